//! When and on which machine a part was measured: a report is worthless without these facts, and
//! the parts may be from different days.

use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use gmp_benches::report;
use jiff::Timestamp;
use procfs::{CpuInfo, CpuTime, Current, CurrentSI, KernelStats, LoadAverage, Meminfo};
use serde::{Deserialize, Serialize};

/// How long the cores are observed before a part that isn't the first of its run.
const LOOK: Duration = Duration::from_secs(1);

/// The facts about a measurement. Facts that the system doesn't report are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) commands: Vec<String>,
    /// The moment at which the measurement began.
    pub(crate) date: String,
    /// The length of the measurement.
    pub(crate) seconds: u64,
    pub(crate) cores: Option<usize>,
    pub(crate) cpu: Option<String>,
    pub(crate) memory: Option<String>,
    pub(crate) kernel: Option<String>,
    /// The mean number of runnable threads in the minute before the measurement, including those of
    /// the previous part.
    pub(crate) load_before: Option<String>,
    /// The load of other programs before the measurement: in threads or, if this program had just
    /// measured another part, in cores.
    pub(crate) others_before: Option<f64>,
    pub(crate) gmp: String,
    pub(crate) tokio: String,
    pub(crate) rustc: Option<String>,
    pub(crate) go: Option<String>,
}

impl About {
    /// To be called before a part is measured, the first one of a run or a later one.
    ///
    /// The load average covers the minute before. But a part that follows another part of the same
    /// run finds the load of that part in the average, and waiting until it has faded would double
    /// the time of a report. So before such a part the cores are observed for a second in which
    /// nothing is measured.
    pub(crate) fn now(is_first: bool) -> Self {
        let load = LoadAverage::current().ok().map(|load| load.one);
        About {
            commands: Vec::new(),
            date: Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            seconds: 0,
            cores: cores(),
            cpu: CpuInfo::current().ok().and_then(|info| info.model_name(0).map(str::to_owned)),
            memory: Meminfo::current().ok().map(|info| format!("{} kB", info.mem_total / 1024)),
            kernel: kernel(),
            others_before: if is_first { load.map(f64::from) } else { look() },
            load_before: load.map(|load| format!("{load:.2}")),
            gmp: gmp(),
            tokio: report::tokio_version().to_owned(),
            rustc: output("rustc", &["--version"]),
            go: output("go", &["version"]),
        }
    }
}

fn cores() -> Option<usize> {
    thread::available_parallelism().ok().map(|cores| cores.get())
}

/// The number of cores that are busy now.
fn look() -> Option<f64> {
    let before = KernelStats::current().ok()?.total;
    thread::sleep(LOOK);
    busy_cores(&before, &KernelStats::current().ok()?.total, cores()?)
}

/// The times are in a unit that cancels out. `user` and `nice` contain the time of guests.
fn busy_cores(before: &CpuTime, after: &CpuTime, cores: usize) -> Option<f64> {
    let idle = |time: &CpuTime| time.idle + time.iowait.unwrap_or(0);
    let others = |time: &CpuTime| [time.irq, time.softirq, time.steal].into_iter().flatten().sum::<u64>();
    let busy = |time: &CpuTime| time.user + time.nice + time.system + others(time);
    let [busy, idle] = [busy(after).checked_sub(busy(before))?, idle(after).saturating_sub(idle(before))];
    (busy + idle > 0).then(|| busy as f64 / (busy + idle) as f64 * cores as f64)
}

/// The version of the package, and the commit if the sources are in a repository.
fn gmp() -> String {
    let commit = output("git", &["describe", "--always", "--dirty"]).map(|commit| format!(" ({commit})"));
    format!("{}{}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
}

fn kernel() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(format!("{} {} {}", env::consts::OS, release.trim(), env::consts::ARCH))
}

/// The output of a command, if it exists and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use procfs::FromReadSI;

    use super::*;

    #[test]
    fn half_of_the_time_of_two_cores_is_a_core() {
        let [before, after] = ["cpu  10 0 10 100 0 0 0 0 7 0", "cpu  60 0 60 150 50 0 0 0 9 0"].map(|cpu| {
            let rest = "\ncpu0 1 0 1 1 0 0 0 0 0 0\nctxt 1\nbtime 1\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n";
            let text = format!("{cpu}{rest}");
            KernelStats::from_read(text.as_bytes(), procfs::current_system_info()).unwrap().total
        });
        assert_eq!(busy_cores(&before, &after, 2), Some(1.0));
        assert_eq!(busy_cores(&before, &before, 2), None);
    }
}
