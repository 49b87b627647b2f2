//! When and on which machine a part was measured: a report is worthless without these facts, and
//! the parts may be from different days.

use std::process::Command;
use std::{env, fs, thread};

use gmp_benches::report;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::load;

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
    #[serde(default)]
    pub(crate) others_before: Option<f64>,
    pub(crate) gmp: String,
    pub(crate) tokio: String,
    pub(crate) rustc: Option<String>,
    pub(crate) go: Option<String>,
}

impl About {
    /// To be called before a part is measured, the first one of a run or a later one.
    pub(crate) fn now(is_first: bool) -> Self {
        let load_before = load::average();
        About {
            commands: Vec::new(),
            date: Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            seconds: 0,
            cores: thread::available_parallelism().ok().map(|cores| cores.get()),
            cpu: field("/proc/cpuinfo", "model name"),
            memory: field("/proc/meminfo", "MemTotal"),
            kernel: kernel(),
            others_before: load::of_others(load_before.as_deref(), is_first),
            load_before,
            gmp: gmp(),
            tokio: report::tokio_version().to_owned(),
            rustc: output("rustc", &["--version"]),
            go: output("go", &["version"]),
        }
    }
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

/// The value of the first `name: value` of a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim().to_owned()))
}

/// The output of a command, if it exists and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
