//! When and on what a part was measured: a report is worth nothing without it, and the parts may be
//! of different days.

use std::process::Command;
use std::{env, fs, thread};

use gmp_benches::report;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::load;

/// What is known of a measurement. What the system doesn't say is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct About {
    /// The commands, one a line.
    pub(crate) commands: Vec<String>,
    /// The moment at which it began.
    pub(crate) date: String,
    /// How long it took.
    pub(crate) seconds: u64,
    pub(crate) cores: Option<usize>,
    pub(crate) cpu: Option<String>,
    pub(crate) memory: Option<String>,
    pub(crate) kernel: Option<String>,
    /// The mean number of runnable threads in the minute before it began, those of the part before
    /// it too.
    pub(crate) load_before: Option<String>,
    /// The same of something else than this program, in threads or, where it had just measured
    /// another part, in cores.
    #[serde(default)]
    pub(crate) others_before: Option<f64>,
    pub(crate) gmp: String,
    pub(crate) tokio: String,
    pub(crate) rustc: Option<String>,
    pub(crate) go: Option<String>,
}

impl About {
    /// To be called before a part is measured, the first one of a run or another.
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

/// The version of the package, and the commit if there is a repository around.
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

/// What a command prints, if it is there and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_that_is_not_there_says_is_unknown() {
        assert_eq!(output("no-program-of-this-name", &[]), None);
    }
}
