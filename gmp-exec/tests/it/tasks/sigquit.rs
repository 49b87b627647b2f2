//! `GMP_DEBUG=sigquit=1`: SIGQUIT prints all tasks, and the program goes on.

use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Duration;

use super::program::Program;
#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use super::program::SITES;

#[test]
fn sigquit_prints_the_tasks_of_every_runtime_and_the_program_goes_on() {
    let mut program = Program::start("waits", "sigquit=1");
    for _ in 0..3 {
        program.signal();
        let text = program.read_until("gmp: runtime 2 \"the\\nsecond\": ", 1);
        assert!(text.contains("gmp: runtime 1: 5 tasks\n"), "{text}");
        assert!(text.contains("gmp:   5 waiting, spawned at ") && text.contains("program.rs:"), "{text}");
        assert!(text.contains("gmp: runtime 2 \"the\\nsecond\": 1 task\n"), "{text}");
    }
    program.kill();
}

/// No task is polled for that unless the user asks for it.
#[test]
#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn sigquit_prints_the_lines_at_which_tasks_wait_or_how_to_get_them() {
    let line = format!(", at tests/it/tasks/program.rs:{},", SITES[0]);
    let mut program = Program::start("awaits", "sigquit=lines");
    program.signal();
    let text = program.read_until("gmp: runtime 2: ", 1);
    assert!(text.contains(&line), "{text}");
    program.kill();

    let mut program = Program::start("awaits", "sigquit=1");
    program.signal();
    let text = program.read_until("gmp: the lines at which tasks wait: ", 0);
    let how = format!(": `cargo gmp tasks --lines {}`, or GMP_DEBUG=sigquit=lines at the start\n", program.child.id());
    assert!(text.ends_with(&how) && !text.contains(&line), "{text}");
    program.kill();
}

#[test]
fn sigquit_prints_while_every_worker_is_stuck() {
    let mut program = Program::start("stuck", "sigquit=1");
    // The poll is found to be stuck after a while.
    let mut text = String::new();
    while !text.contains("stuck for ") {
        program.signal();
        text = program.read_until("gmp: runtime 1: ", 1);
        thread::sleep(Duration::from_millis(10));
    }
    assert!(text.contains("2 running, spawned at "), "{text}");
    program.kill();
}

/// A shell ignores the signal for programs that it starts in the background. Who sets the variable
/// wants the answers all the same.
#[test]
fn a_program_that_was_started_with_the_signal_ignored_answers() {
    let mut program = Program::start_by("--ignore-signal=QUIT", "waits", "sigquit=1");
    program.signal();
    program.read_until("gmp: runtime 2 \"the\\nsecond\": ", 1);
    program.kill();
}

/// The system's default, as on tokio.
#[test]
fn without_the_setting_sigquit_ends_the_program() {
    for setting in ["", "sigquit=0"] {
        let program = Program::start("waits", setting);
        program.signal();
        let (status, text) = program.wait();
        assert_eq!(status.signal(), Some(libc::SIGQUIT), "{status}: {text}");
        assert!(!text.contains("gmp: "), "{text}");
    }
}

#[test]
fn a_program_that_handles_the_signal_itself_keeps_its_handler() {
    let program = Program::start("ignores", "sigquit=1");
    program.signal();
    let (status, text) = program.wait();
    assert!(status.success() && !text.contains("gmp: "), "{status}: {text}");
}
