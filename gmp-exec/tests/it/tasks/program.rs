//! Programs that are asked for their tasks.
//!
//! Each is a process of its own, which runs this binary with the test `in_a_child`. It ends at the latest
//! when a test has run out of patience, and so does each wait for it.

use std::future::{Future, pending, poll_fn};
use std::io::{BufRead, BufReader, Read};
use std::pin::pin;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::task::Poll;
use std::time::Duration;
use std::{env, thread};

use gmp_exec::runtime::{BlockedCause, BlockedEntry, Builder, Handle};
use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, LocalSet, yield_now};
use gmp_exec::time::sleep;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

use super::fork;
use crate::support::{FOREVER, Watchdog, current, multi, wait_until};

const CASE: &str = "GMP_TEST_CASE";

/// A process that has printed "ready".
pub(super) struct Program {
    pub(super) child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Program {
    pub(super) fn start(case: &str, setting: &str) -> Program {
        Program::start_by("--default-signal=QUIT", case, setting)
    }

    /// A shell that runs the tests in the background has them ignore the signal, and every child
    /// inherits that. No safe code restores the default, so `env` does. It has to be the `env` of
    /// GNU coreutils 8.31 (2019) or newer.
    pub(super) fn start_by(option_of_env: &str, case: &str, setting: &str) -> Program {
        Program::start_with(option_of_env, case, &[("GMP_DEBUG", setting)])
    }

    pub(super) fn start_with(option_of_env: &str, case: &str, settings: &[(&str, &str)]) -> Program {
        let mut command = Command::new("env");
        command.arg(option_of_env).arg(env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "tasks::program::in_a_child"]);
        command
            .env_remove("GMP_BLOCKED")
            .env(CASE, case)
            .envs(settings.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut program = Program { child, stderr };
        program.read_until("ready", 0);
        program
    }

    pub(super) fn signal(&self) {
        kill_process(Pid::from_child(&self.child), Signal::QUIT).unwrap();
    }

    /// Reads up to the line that begins with this text, and so many lines more.
    pub(super) fn read_until(&mut self, text: &str, more: usize) -> String {
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

    pub(super) fn wait(mut self) -> (ExitStatus, String) {
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap(), text)
    }

    pub(super) fn killed(mut self) -> (ExitStatus, String) {
        self.child.kill().unwrap();
        self.wait()
    }

    pub(super) fn kill(mut self) {
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
        "awaits" => await_in_functions(),
        "stuck" => stick(),
        "ignores" => ignore(),
        "handles" => handle(),
        "single" => wait_on_one_thread(current()),
        "yields" => yield_on_one_thread(),
        "blocks" => block(|| thread::sleep(FOREVER)),
        "exits" => block(|| std::process::exit(3)),
        "aborts" => block(|| std::process::abort()),
        "forks" => block(|| {
            let copy = fork::that_waits();
            kill_process(copy, Signal::TERM).unwrap();
            assert_eq!(end_of(copy).terminating_signal(), Some(libc::SIGTERM));
            assert_eq!(end_of(fork::that_exits()).exit_status(), Some(7));
            eprintln!("goes on");
            std::process::exit(0);
        }),
        "handles SIGTERM" => block(|| {
            let caught = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTERM, caught.clone()).unwrap();
            eprintln!("handles");
            wait_until(|| caught.load(std::sync::atomic::Ordering::SeqCst));
            eprintln!("goes on");
        }),
        _ => panic!("there is no case {case}"),
    }
}

fn end_of(process: Pid) -> WaitStatus {
    waitpid(Some(process), WaitOptions::empty()).unwrap().expect("it has ended").1
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

/// The lines at which the tasks of [`await_in_functions`] wait.
#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const SITES: [u32; 3] = [line!() + 3, line!() + 7, line!() + 13];

async fn sleeps() {
    sleep(FOREVER).await;
}

async fn joins(task: JoinHandle<()>) {
    task.await.unwrap();
}

async fn does_either(task: JoinHandle<()>) {
    let mut join = pin!(joins(task));
    let mut timer = pin!(sleep(FOREVER));
    poll_fn(|cx| if join.as_mut().poll(cx).is_ready() { Poll::Ready(()) } else { timer.as_mut().poll(cx) }).await;
}

/// One task on each flavour, and one in a `LocalSet`.
fn await_in_functions() {
    let first = multi(2).build().unwrap();
    first.spawn(does_either(first.spawn(sleeps())));
    let (second, set) = (current().build().unwrap(), LocalSet::new());
    set.spawn_local(sleeps());
    second.spawn(sleeps());
    set.block_on(&second, async {
        let waiting =
            || Handle::current().tasks().chain(first.handle().tasks()).filter(|info| info.age.is_some()).count();
        while waiting() < 4 {
            yield_now().await;
        }
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

/// Calls `end` beside a runtime in which a task has blocked.
fn block(end: impl FnOnce()) {
    let runtime = multi(2).build().unwrap();
    let (waker, sleeper) = std::sync::mpsc::channel::<()>();
    let task = runtime.spawn(async move { sleeper.recv() });
    // On a busy computer the poll is told as starved at first.
    let is_blocked = |entry: &BlockedEntry| entry.cause == BlockedCause::Blocked;
    wait_until(|| runtime.handle().blocked_report().entries.iter().any(is_blocked));
    drop(waker);
    runtime.block_on(task).unwrap().unwrap_err();
    eprintln!("ready");
    end();
}

/// Handles SIGURG itself, and ends when it has come.
fn handle() {
    let caught = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGURG, caught.clone()).unwrap();
    let _runtime = multi(1).build().unwrap();
    eprintln!("ready");
    wait_until(|| caught.load(std::sync::atomic::Ordering::SeqCst));
}

fn wait_on_one_thread(mut builder: Builder) {
    builder.build().unwrap().block_on(async {
        spawn(pending::<()>());
        sleep(Duration::from_millis(1)).await;
        eprintln!("ready");
        pending::<()>().await;
    });
}

/// Sleeps now and then, and never for long.
fn yield_on_one_thread() {
    current().build().unwrap().block_on(async {
        spawn(pending::<()>());
        eprintln!("ready");
        loop {
            for _ in 0..100 {
                yield_now().await;
            }
            sleep(Duration::from_micros(200)).await;
        }
    });
}
