//! A scenario under a seed, in a process of its own.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::*;

use crate::scenarios;

const SCENARIO: &str = "SEEDED_SCENARIO";

/// What a run has said.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stderr: String,
    pub(crate) stdout: String,
    pub(crate) report: String,
    pub(crate) log: String,
}

impl Run {
    /// The value of a field of the report.
    pub(crate) fn field(&self, name: &str) -> &str {
        let rest = self.report.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{self:#?}")).1;
        let end = if rest.starts_with('[') { rest.find(']').map(|at| at + 1) } else { rest.find([',', '}']) };
        rest[..end.expect("the report is whole")].trim_matches('"')
    }

    /// The decisions, as numbers.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &str> {
        let lines = self.log.lines().filter(|line| !line.starts_with(' '));
        lines.map(|line| line.split(' ').next().expect("a line has a word"))
    }
}

/// Runs that scenario under that seed.
pub(crate) fn run(scenario: &str, seed: u64) -> Run {
    run_with(scenario, seed, &[])
}

/// Makes the choices in that text again.
pub(crate) fn replay(scenario: &str, seed: u64, choices: &str) -> Run {
    let folder = folder();
    let file = folder.join("choices");
    std::fs::write(&file, choices).unwrap();
    let run = run_with(scenario, seed, &[("GMP_SEED_REPLAY", file.to_str().expect("a name in ASCII"))]);
    let _ = std::fs::remove_dir_all(folder);
    run
}

/// A new one.
fn folder() -> PathBuf {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let name = format!("gmp-seeded-{}-{}", std::process::id(), FOLDERS.fetch_add(1, Relaxed));
    let folder = env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn run_with(scenario: &str, seed: u64, settings: &[(&str, &str)]) -> Run {
    let folder = folder();
    let (report, log) = (folder.join("report"), folder.join("log"));
    let Output { status, stdout, stderr } = command(scenario, seed)
        .env("GMP_SEED_REPORT", &report)
        .env("GMP_SEED_LOG", &log)
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let (report, log) = (read(report), read(log));
    let _ = std::fs::remove_dir_all(folder);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: status.code(), stderr: text(stderr), stdout: text(stdout), report, log }
}

pub(crate) fn command(scenario: &str, seed: u64) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child::scenario", "--nocapture", "--test-threads=2"]);
    command.env(SCENARIO, scenario).env("GMP_SEED", format!("{seed:x}")).env("RUST_BACKTRACE", "0");
    command
}

/// Does nothing but in a child.
#[test]
fn scenario() {
    if let Ok(name) = env::var(SCENARIO) {
        scenarios::find(&name)();
    }
}
