//! When and on which machine a part was measured: a report is worthless without these facts, and
//! the parts may be from different days.

use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use gmp_benches::report;
use jiff::Timestamp;
use procfs::{CpuInfo, CpuTime, Current, CurrentSI, KernelStats, Meminfo};
use serde::{Deserialize, Serialize};

use crate::part::Part;

/// How long the cores are observed before a part.
const LOOK: Duration = Duration::from_secs(1);

/// The load of other programs, in cores, above which figures are not trustworthy.
const MOST: f64 = 0.5;

/// The facts about a measurement.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) commands: Vec<String>,
    /// When the measurement began.
    pub(crate) day: String,
    pub(crate) time: String,
    /// The length of the measurement.
    pub(crate) seconds: u64,
    pub(crate) cores: Option<usize>,
    /// How many cores other programs kept busy before the measurement.
    pub(crate) others_before: Option<f64>,
    pub(crate) gmp: String,
    pub(crate) tokio: String,
    /// What else the system says of itself, its compilers and the machine.
    pub(crate) others: Vec<String>,
}

impl About {
    /// To be called before a part is measured: observes the cores for a second in which nothing is
    /// measured. The load average would contain the previous part of the run.
    pub(crate) fn now() -> Self {
        let now = Timestamp::now();
        let cpu = CpuInfo::current().ok().and_then(|info| info.model_name(0).map(str::to_owned));
        let memory = Meminfo::current().ok().map(|info| format!("{} kB", info.mem_total / 1024));
        let tools = [output("rustc", &["--version"]), output("go", &["version"])];
        About {
            day: now.strftime("%Y-%m-%d").to_string(),
            time: now.strftime("%H:%M UTC").to_string(),
            cores: cores(),
            others_before: look(),
            gmp: gmp(),
            tokio: report::tokio_version().to_owned(),
            others: [cpu, memory, kernel()].into_iter().chain(tools).flatten().collect(),
            ..About::default()
        }
    }

    /// Whether other programs kept the machine busy before `part` was measured.
    pub(crate) fn noise(&self, part: Part) -> Option<String> {
        let load = self.others_before.filter(|&load| load > MOST)?;
        let what = format!("its load was {load:.2}, and above {MOST} figures are not to be trusted");
        Some(format!("The machine was not quiet before {} was measured: {what}.", part.name()))
    }
}

/// Reasons to doubt the figures of a report, one sentence each.
pub(crate) fn doubts(about: &[(Part, About)]) -> Vec<String> {
    mixed(about).into_iter().chain(about.iter().filter_map(|(part, about)| about.noise(*part))).collect()
}

/// Whether parts are from different days or commits.
fn mixed(about: &[(Part, About)]) -> Option<String> {
    let groups = report::grouped(about, |(_, about)| (about.day.clone(), about.gmp.clone()));
    let said = groups.iter().map(|((day, gmp), parts)| {
        let parts: Vec<_> = parts.iter().map(|(part, _)| part.name()).collect();
        format!("{} on {day} with gmp {gmp}", parts.join(", "))
    });
    let said = said.collect::<Vec<_>>().join("; ");
    (groups.len() > 1).then(|| format!("These parts were not measured together: {said}."))
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

    #[test]
    fn a_busy_machine_and_parts_of_two_days_or_commits_are_reported() {
        let about = |day: &str, gmp: &str, load| About {
            day: day.to_owned(),
            gmp: gmp.to_owned(),
            others_before: load,
            ..About::default()
        };
        let doubts = |ticker| {
            let [table, mix] = [None, Some(0.5)].map(|load| about("2026-11-20", "0.1.0 (abc)", load));
            doubts(&[(Part::Table, table), (Part::Mix, mix), (Part::Ticker, ticker)])
        };
        assert!(doubts(about("2026-11-20", "0.1.0 (abc)", None)).is_empty());
        let noise = &doubts(about("2026-11-20", "0.1.0 (abc)", Some(1.26)))[0];
        assert!(noise.contains("before ticker was measured") && noise.contains(" 1.26,"), "{noise}");
        for (day, gmp) in [("2026-11-21", "0.1.0 (abc)"), ("2026-11-20", "0.1.0 (def)")] {
            let said = "These parts were not measured together: table, mix on 2026-11-20 with gmp 0.1.0 (abc)";
            assert_eq!(doubts(about(day, gmp, None)), [format!("{said}; ticker on {day} with gmp {gmp}.")]);
        }
    }
}
