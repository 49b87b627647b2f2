//! A process that ends before its runtime does leaves what `GMP_BLOCKED` and `GMP_TRACE` ask for, and ends
//! as it would without.

use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process};

use super::program::Program;

fn start(case: &str, settings: &[(&str, &str)]) -> Program {
    Program::start_with("--default-signal=TERM,INT", case, settings)
}

/// How the process has ended, and what it has written after "ready".
fn ended(case: &str, settings: &[(&str, &str)], signal: Option<Signal>) -> (ExitStatus, String) {
    let program = start(case, settings);
    if let Some(signal) = signal {
        kill_process(Pid::from_child(&program.child), signal).unwrap();
    }
    program.wait()
}

/// A case, the signal that is sent to it, and how it ends.
const WAYS: [(&str, Option<Signal>, &str); 4] = [
    ("blocks", Some(Signal::TERM), "signal: 15 (SIGTERM)"),
    ("blocks", Some(Signal::INT), "signal: 2 (SIGINT)"),
    ("exits", None, "exit status: 3"),
    ("aborts", None, "signal: 6 (SIGABRT)"),
];

#[test]
fn the_report_comes_at_every_end_of_the_process() {
    for (case, signal, end) in WAYS {
        let (status, text) = ended(case, &[("GMP_BLOCKED", "summary")], signal);
        assert!(status.to_string().starts_with(end), "{case}: {status}: {text}");
        assert_eq!(text.matches("gmp: blocked 1x, ").count(), 1, "{case}: {text}");
    }
}

#[test]
fn without_a_setting_the_process_ends_in_the_same_way_and_says_nothing() {
    for (case, signal, end) in WAYS {
        let (status, text) = ended(case, &[], signal);
        assert!(status.to_string().starts_with(end), "{case}: {status}: {text}");
        assert!(!text.contains("gmp: "), "{case}: {text}");
    }
}

#[test]
#[cfg(feature = "insight")]
fn the_recording_is_written_at_every_end_of_the_process() {
    for (case, signal, ..) in WAYS {
        let file = std::env::temp_dir().join(format!("gmp-ending-{}-{case}-{signal:?}", std::process::id()));
        let (_, text) = ended(case, &[("GMP_TRACE", file.to_str().unwrap())], signal);
        assert!(std::fs::metadata(&file).is_ok_and(|file| file.len() > 100), "{case}: {text}");
        std::fs::remove_file(file).unwrap();
    }
}

/// The program's handler is installed after gmp's, and calls that.
#[test]
fn a_program_that_handles_the_signal_itself_goes_on() {
    let mut program = start("handles SIGTERM", &[("GMP_BLOCKED", "summary")]);
    program.read_until("handles", 0);
    kill_process(Pid::from_child(&program.child), Signal::TERM).unwrap();
    let (status, text) = program.wait();
    assert!(status.success(), "{status}: {text}");
    let (_, report) = text.split_once("goes on\n").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(report.matches("gmp: blocked 1x, ").count(), 1, "{text}");
}

#[test]
fn a_copy_of_the_process_ends_by_itself_and_without_a_report() {
    let (status, text) = ended("forks", &[("GMP_BLOCKED", "summary")], None);
    assert!(status.success(), "{status}: {text}");
    assert!(text.starts_with("goes on\ngmp: blocked 1x, "), "{text}");
}

#[test]
fn a_summary_of_nothing_says_so() {
    let (_, text) = ended("waits", &[("GMP_BLOCKED", "summary")], Some(Signal::TERM));
    assert_eq!(text, "gmp: GMP_BLOCKED: watched, nothing found\n".repeat(2));
}
