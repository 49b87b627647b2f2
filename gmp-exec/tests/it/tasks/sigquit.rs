//! `GMP_DEBUG=sigquit=1`: SIGQUIT prints all tasks, and the program goes on.
//!
//! Each case is a process of its own, which runs this binary with the test `in_a_child`. It ends at
//! the latest when a test has run out of patience, and so does each wait for it.

use std::fs::File;
use std::future::pending;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, thread};

use gmp_exec::time::sleep;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{FOREVER, Watchdog, current, multi, wait_until};

const CASE: &str = "GMP_TEST_CASE";

#[test]
fn sigquit_prints_the_tasks_of_every_runtime_and_the_program_goes_on() {
    let mut program = Program::start("waits", "sigquit=1");
    for _ in 0..3 {
        program.signal();
        let text = program.read_until("gmp: runtime 2 \"the\\nsecond\": ", 1);
        assert!(text.contains("gmp: runtime 1: 5 tasks\n"), "{text}");
        assert!(text.contains("gmp:   5 waiting, spawned at ") && text.contains("sigquit.rs:"), "{text}");
        assert!(text.contains("gmp: runtime 2 \"the\\nsecond\": 1 task\n"), "{text}");
    }
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

/// As `cargo gmp tasks` asks: the answer goes to the process that has sent the signal.
#[test]
fn a_process_that_says_so_in_its_name_gets_the_answer() {
    for (suffix, expected) in [("", "gmp 1\nruntime 1: 5 tasks\n"), ("j", "gmp 1\n{\"id\":")] {
        let program = Program::start("waits", "sigquit=1");
        let answer = ask(&program, suffix);
        assert!(answer.starts_with(expected), "{answer}");
        assert!(answer.contains("sigquit.rs"), "{answer}");
        let (_, text) = program.killed();
        assert_eq!(text, "", "nothing is printed");
    }
}

fn ask(program: &Program, suffix: &str) -> String {
    let _watchdog = Watchdog::new();
    let mut asker = Asker::start(program, &format!("1{suffix}"), Stdio::piped());
    let mut answer = BufReader::new(asker.0.stdout.take().unwrap());
    let mut text = String::new();
    // The asker lives until its answer has begun.
    answer.read_line(&mut text).unwrap();
    drop(asker);
    answer.read_to_string(&mut text).unwrap();
    text
}

/// Otherwise who sends the signal could have the program write into any file that the program may
/// write.
#[test]
fn an_asker_that_names_another_descriptor_than_that_of_a_pipe_for_writing_gets_no_answer() {
    let mut program = Program::start("waits", "sigquit=1");
    let path = env::temp_dir().join(format!("gmp-sigquit-{}", std::process::id()));
    let file = File::create(&path).unwrap();
    // A file, and the end for reading of a pipe.
    for (descriptor, stdout) in [("1", Stdio::from(file)), ("0", Stdio::null()), ("1", Stdio::null())] {
        let _asker = Asker::start(&program, descriptor, stdout);
        program.read_until("gmp: runtime 2 \"the\\nsecond\": ", 1);
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    std::fs::remove_file(path).unwrap();
    program.kill();
}

#[test]
fn an_asker_that_does_not_read_is_given_up() {
    let mut program = Program::start("waits", "sigquit=1");
    let (reader, writer) = pipe_with(PipeFlags::NONBLOCK).unwrap();
    while rustix::io::write(&writer, &[0; 4096]).is_ok() {}
    let _asker = Asker::start(&program, "1", Stdio::from(writer));
    // The answer to these signals waits for the one before.
    program.signal_until_answered("gmp: runtime 2 \"the\\nsecond\": ");
    drop(reader);
    program.kill();
}

/// A process that names a descriptor of its own for the answer. A shell sends the signal itself, and
/// reads nothing.
struct Asker(Child);

impl Asker {
    fn start(program: &Program, descriptor: &str, stdout: Stdio) -> Asker {
        let script = "printf gmp-tasks:$1 > /proc/$$/comm; kill -QUIT $2; read _";
        let mut asker = Command::new("sh");
        asker.args(["-c", script, "sh", descriptor, &program.child.id().to_string()]);
        Asker(asker.stdin(Stdio::piped()).stdout(stdout).spawn().unwrap())
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
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

/// A process that has printed "ready".
struct Program {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Program {
    fn start(case: &str, setting: &str) -> Program {
        Program::start_by("--default-signal=QUIT", case, setting)
    }

    /// A shell that runs the tests in the background has them ignore the signal, and every child
    /// inherits that. No safe code restores the default, so `env` does. It has to be the `env` of
    /// GNU coreutils 8.31 (2019) or newer.
    fn start_by(option_of_env: &str, case: &str, setting: &str) -> Program {
        let mut command = Command::new("env");
        command.arg(option_of_env).arg(env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "tasks::sigquit::in_a_child"]);
        command.env("GMP_DEBUG", setting).env(CASE, case).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut program = Program { child, stderr };
        program.read_until("ready", 0);
        program
    }

    fn signal(&self) {
        kill_process(Pid::from_child(&self.child), Signal::QUIT).unwrap();
    }

    /// Signals more than once: the kernel merges a signal with one that is still pending, here the
    /// asker's.
    fn signal_until_answered(&mut self, answer: &str) {
        let process = Pid::from_child(&self.child);
        let (reading, read) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                kill_process(process, Signal::QUIT).unwrap();
                while read.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
                    kill_process(process, Signal::QUIT).unwrap();
                }
            });
            self.read_until(answer, 1);
            drop(reading);
        });
    }

    /// Reads up to the line that begins with this text, and so many lines more.
    fn read_until(&mut self, text: &str, more: usize) -> String {
        let mut all = String::new();
        loop {
            let start = all.len();
            assert_ne!(self.stderr.read_line(&mut all).unwrap(), 0, "{all}");
            if all[start..].starts_with(text) {
                break;
            }
        }
        for _ in 0..more {
            self.stderr.read_line(&mut all).unwrap();
        }
        all
    }

    fn wait(mut self) -> (ExitStatus, String) {
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap(), text)
    }

    fn killed(mut self) -> (ExitStatus, String) {
        self.child.kill().unwrap();
        self.wait()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn in_a_child() {
    let Ok(case) = env::var(CASE) else { return };
    let _watchdog = Watchdog::new();
    match case.as_str() {
        "waits" => wait(),
        "stuck" => stick(),
        "ignores" => ignore(),
        _ => panic!("there is no case {case}"),
    }
}

fn wait() {
    let first = multi(2).build().unwrap();
    let second = current().name("the\nsecond").build().unwrap();
    (0..5).for_each(|_| drop(first.spawn(pending::<()>())));
    second.spawn(pending::<()>());
    wait_until(|| first.handle().tasks().filter(|info| info.age.is_some()).count() == 5);
    second.block_on(async {
        sleep(Duration::from_millis(1)).await;
        eprintln!("ready");
        pending::<()>().await;
    });
}

fn stick() {
    let runtime = multi(2).build().unwrap();
    let line = || async { thread::sleep(FOREVER) };
    (0..2).for_each(|_| drop(runtime.spawn(line())));
    wait_until(|| runtime.handle().tasks().filter(|info| info.polls == 1).count() == 2);
    eprintln!("ready");
    thread::sleep(FOREVER);
}

/// Catches the signal before the runtime is built.
fn ignore() {
    let caught = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGQUIT, caught.clone()).unwrap();
    let _runtime = multi(1).build().unwrap();
    eprintln!("ready");
    wait_until(|| caught.load(std::sync::atomic::Ordering::SeqCst));
}
