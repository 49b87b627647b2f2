//! When and on which machine a part was measured: a report is worthless without these facts, and
//! the parts may be from different days.

use std::process::Command;
use std::thread;
use std::time::Duration;

use gmp_benches::report::{self, quantity};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sysinfo::System;

use crate::part::Part;

const LOOK: Duration = Duration::from_secs(1);

/// The load of other programs, in cores, above which figures are not trustworthy.
const MOST: f64 = 0.5;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) commands: Vec<String>,
    pub(crate) day: String,
    pub(crate) time: String,
    pub(crate) seconds: u64,
    pub(crate) cores: usize,
    pub(crate) others_before: f64,
    pub(crate) gmp: String,
    pub(crate) tokio: String,
    /// What else the system says of itself, its compilers and the machine.
    pub(crate) others: Vec<String>,
}

impl About {
    /// Observes the cores for a second in which nothing is measured. The load average would contain
    /// the previous part of the run.
    pub(crate) fn now() -> Self {
        let now = Timestamp::now();
        let mut system = System::new();
        system.refresh_cpu_all();
        thread::sleep(LOOK);
        system.refresh_cpu_all();
        system.refresh_memory();
        let cores = system.cpus();
        let memory = format!("{} of memory", quantity(system.total_memory() as f64, "B"));
        let machine = [cores.first().map(|core| core.brand().to_owned()), Some(memory), System::long_os_version()];
        let tools = [System::kernel_version(), output("rustc", &["--version"]), output("go", &["version"])];
        About {
            day: now.strftime("%Y-%m-%d").to_string(),
            time: now.strftime("%H:%M UTC").to_string(),
            cores: cores.len(),
            others_before: cores.iter().map(|core| f64::from(core.cpu_usage())).sum::<f64>() / 100.0,
            gmp: gmp(),
            tokio: report::tokio_version().to_owned(),
            others: machine.into_iter().chain(tools).flatten().collect(),
            ..About::default()
        }
    }

    /// Whether other programs kept the machine busy before `part` was measured.
    pub(crate) fn noise(&self, part: Part) -> Option<String> {
        let what = format!("its load was {:.2}, and above {MOST} figures are not to be trusted", self.others_before);
        let noise = || format!("The machine was not quiet before {} was measured: {what}.", part.name());
        (self.others_before > MOST).then(noise)
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

fn gmp() -> String {
    let commit = output("git", &["describe", "--always", "--dirty"]).map(|commit| format!(" ({commit})"));
    format!("{}{}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
}

/// The output of a command, if it exists and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_and_parts_of_two_days_or_commits_are_reported() {
        let about = |day: &str, gmp: &str, load| About {
            day: day.to_owned(),
            gmp: gmp.to_owned(),
            others_before: load,
            ..About::default()
        };
        let doubts = |ticker| {
            let [table, mix] = [0.0, 0.5].map(|load| about("2026-11-20", "0.1.0 (abc)", load));
            doubts(&[(Part::Table, table), (Part::Mix, mix), (Part::Ticker, ticker)])
        };
        assert!(doubts(about("2026-11-20", "0.1.0 (abc)", 0.0)).is_empty());
        let noise = &doubts(about("2026-11-20", "0.1.0 (abc)", 1.26))[0];
        assert!(noise.contains("before ticker was measured") && noise.contains(" 1.26,"), "{noise}");
        for (day, gmp) in [("2026-11-21", "0.1.0 (abc)"), ("2026-11-20", "0.1.0 (def)")] {
            let said = "These parts were not measured together: table, mix on 2026-11-20 with gmp 0.1.0 (abc)";
            assert_eq!(doubts(about(day, gmp, 0.0)), [format!("{said}; ticker on {day} with gmp {gmp}.")]);
        }
    }
}
