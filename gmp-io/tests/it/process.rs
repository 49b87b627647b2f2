//! Child processes: starting, waiting, and pipes.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::Stdio;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use gmp_exec::runtime::Builder;
use gmp_exec::time::{sleep, timeout};
use gmp_io::io::AsyncWrite;
use gmp_io::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use rustix::process::{Pid, getpgid};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{eventually, message_of, multi_thread, on_both, within_deadline};

/// A shell that runs `script`.
pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

pub(crate) fn start(command: &mut Command) -> Child {
    command.spawn().expect("started")
}

/// A child that copies its input to its output.
fn cat() -> (Child, ChildStdin, ChildStdout) {
    let mut cat = start(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()));
    let (stdin, stdout) = (cat.stdin.take().expect("piped"), cat.stdout.take().expect("piped"));
    (cat, stdin, stdout)
}

/// Its output goes to a file: after a failed test it would keep the pipe open that the parent of
/// `in_child` reads.
pub(crate) fn forever() -> Command {
    let nowhere = || File::options().write(true).open("/dev/null").expect("opened");
    let mut command = Command::new("sleep");
    command.arg("100000").stdout(nowhere()).stderr(nowhere());
    command
}

#[test]
fn the_status_is_the_programs() {
    on_both(|| async {
        assert!(Command::new("true").status().await.expect("run").success());
        assert_eq!(shell("exit 3").status().await.expect("run").code(), Some(3));
        let status = shell("kill -TERM $$").status().await.expect("run");
        assert_eq!((status.code(), status.signal()), (None, Some(15)));
    });
}

#[test]
fn the_output_is_collected() {
    on_both(|| async {
        let output = shell("echo out; echo err >&2; exit 1").output().await.expect("run");
        assert_eq!((output.stdout, output.stderr, output.status.code()), (b"out\n".into(), b"err\n".into(), Some(1)));
    });
}

#[test]
fn output_without_a_pipe_is_empty() {
    on_both(|| async {
        let child = start(shell("echo x").stdout(Stdio::null()));
        let output = child.wait_with_output().await.expect("run");
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    });
}

#[test]
fn status_closes_the_pipes() {
    on_both(|| async {
        let status = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).status();
        assert!(status.await.expect("run").success(), "it has seen the end of its input");
    });
}

#[test]
fn a_command_can_be_run_again() {
    on_both(|| async {
        let mut command = shell("exit $CODE");
        for code in ["1", "2"] {
            assert_eq!(command.env("CODE", code).status().await.expect("run").code(), code.parse().ok());
        }
    });
}

#[test]
fn settings_reach_the_child() {
    on_both(|| async {
        let mut command = shell("echo $A $B $C $0; pwd");
        command.env_clear().env("PATH", std::env::var_os("PATH").expect("a path"));
        command.envs([("A", "a"), ("B", "b"), ("C", "c")]).env_remove("B").arg("zero").current_dir("/");
        let output = command.output().await.expect("run");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a c zero\n/\n");
        let leader = start(forever().process_group(0).kill_on_drop(true));
        let pid = leader.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        assert_eq!(getpgid(pid).expect("asked"), pid.expect("running"));
        let name = Command::new("sh").arg0("other").args(["-c", "echo $0"]).output().await.expect("run");
        assert_eq!(name.stdout, b"other\n");
    });
}

#[test]
fn a_command_is_the_standard_librarys_inside() {
    let mut command = Command::from(std::process::Command::new("one"));
    command.as_std_mut().arg("two");
    assert!(!command.get_kill_on_drop());
    assert!(command.kill_on_drop(true).get_kill_on_drop());
    assert_eq!(command.as_std().get_args().collect::<Vec<_>>(), ["two"]);
    assert_eq!(command.into_std().get_program(), "one");
}

#[test]
fn pipes_carry_bytes_both_ways() {
    on_both(|| async {
        let (mut child, mut stdin, mut stdout) = cat();
        for round in 0..100_u8 {
            stdin.write_all(&[round; 100]).await.expect("written");
            let mut back = [0; 100];
            stdout.read_exact(&mut back).await.expect("read");
            assert_eq!(back, [round; 100]);
        }
        stdin.shutdown().await.expect("done at once");
        assert!(child.try_wait().expect("asked").is_none(), "a pipe ends when it is dropped");
        drop(stdin);
        assert_eq!(stdout.read(&mut [0; 1]).await.expect("read"), 0);
        assert!(child.wait().await.expect("waited").success());
    });
}

#[test]
fn megabytes_go_through_all_pipes_at_once() {
    const LENGTH: usize = 3 << 20;
    on_both(|| async {
        let mut child =
            start(shell("tee /dev/stderr").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut stdin = child.stdin.take().expect("piped");
        let text: Vec<u8> = (0..LENGTH).map(|i| (i % 251) as u8).collect();
        let write = async {
            stdin.write_all(&text).await.expect("written");
            drop(stdin);
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), write);
        let output = output.expect("collected");
        assert!(output.status.success() && output.stdout == text && output.stderr == text);
    });
}

#[test]
fn vectored_writes_reach_the_child() {
    on_both(|| async {
        let (child, mut stdin, mut stdout) = cat();
        assert!(stdin.is_write_vectored());
        let bufs = [std::io::IoSlice::new(b"ab"), std::io::IoSlice::new(b"cd")];
        assert_eq!(stdin.write_vectored(&bufs).await.expect("written"), 4);
        drop(stdin);
        let mut text = String::new();
        stdout.read_to_string(&mut text).await.expect("read");
        assert_eq!(text, "abcd");
        drop(child);
    });
}

#[test]
fn writing_to_a_child_that_has_gone_is_a_broken_pipe() {
    on_both(|| async {
        let mut child = start(Command::new("true").stdin(Stdio::piped()));
        let mut stdin = child.stdin.take().expect("piped");
        child.wait().await.expect("waited");
        let error = eventually(async || stdin.write(b"x").await.err()).await;
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn waiting_closes_the_input() {
    on_both(|| async {
        let mut child = start(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()));
        assert!(child.wait().await.expect("waited").success());
        assert!(child.stdin.is_none());
        let child = start(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()));
        assert!(child.wait_with_output().await.expect("waited").status.success());
    });
}

#[test]
fn the_status_stays_after_the_exit() {
    on_both(|| async {
        let mut child = start(&mut shell("exit 9"));
        assert!(child.id().is_some());
        let status = child.wait().await.expect("waited");
        assert_eq!(status.code(), Some(9));
        assert!(child.id().is_none());
        assert_eq!(child.wait().await.expect("waited"), status);
        assert_eq!(child.try_wait().expect("asked"), Some(status));
        child.start_kill().expect("nothing to kill");
        child.kill().await.expect("nothing to kill");
        assert_eq!(child.wait_with_output().await.expect("waited").status, status);
    });
}

#[test]
fn try_wait_sees_the_exit_by_itself() {
    on_both(|| async {
        let mut child = start(Command::new("cat").stdin(Stdio::piped()));
        assert_eq!(child.try_wait().expect("asked"), None);
        assert!(child.stdin.take().is_some(), "asking closes nothing");
        let status = loop {
            match child.try_wait().expect("asked") {
                Some(status) => break status,
                None => sleep(Duration::from_millis(1)).await,
            }
        };
        assert!(status.success() && child.id().is_none());
        assert_eq!(child.wait().await.expect("waited"), status);
    });
}

#[test]
fn killing_ends_the_wait() {
    on_both(|| async {
        let mut child = start(&mut forever());
        child.kill().await.expect("killed");
        assert_eq!(child.wait().await.expect("waited").signal(), Some(9));
        let mut child = start(&mut forever());
        child.start_kill().expect("killed");
        child.start_kill().expect("again");
        assert_eq!(child.wait().await.expect("waited").signal(), Some(9));
    });
}

#[test]
fn a_cancelled_wait_can_be_repeated() {
    on_both(|| async {
        let mut child = start(Command::new("cat").stdin(Stdio::piped()));
        let stdin = child.stdin.take();
        for _ in 0..3 {
            timeout(Duration::from_millis(1), child.wait()).await.expect_err("still running");
        }
        drop(stdin);
        assert!(child.wait().await.expect("waited").success());
    });
}

#[test]
fn a_wait_moves_from_task_to_task() {
    on_both(|| async {
        let (mut child, stdin, _stdout) = cat();
        {
            let mut wait = pin!(child.wait());
            assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        let waiting = gmp_exec::spawn(async move { child.wait().await.expect("waited") });
        gmp_exec::task::yield_now().await;
        drop(stdin);
        assert!(waiting.await.expect("no panic").success());
    });
}

#[test]
fn two_hundred_children_at_once() {
    on_both(|| async {
        let children: Vec<_> = (0..200).map(|i| start(&mut shell(&format!("exit {}", i % 100)))).collect();
        let statuses =
            join_all(children.into_iter().map(|mut child| async move { child.wait().await.expect("waited") }));
        let codes: Vec<_> = statuses.await.into_iter().map(|status| status.code().expect("it has exited")).collect();
        assert!(codes.into_iter().eq((0..200).map(|i| i % 100)));
    });
}

#[test]
fn children_of_many_tasks_run_at_once() {
    on_both(|| async {
        let tasks = (0..32).map(|i| gmp_exec::spawn(async move { shell(&format!("echo {i}")).output().await }));
        for (i, output) in try_join_all(tasks).await.expect("no panic").into_iter().enumerate() {
            assert_eq!(output.expect("run").stdout, format!("{i}\n").into_bytes());
        }
    });
}

#[test]
fn one_childs_output_is_the_next_ones_input() {
    on_both(|| async {
        let mut echo = start(shell("echo hello; echo oops >&2").stdout(Stdio::piped()).stderr(Stdio::piped()));
        let out: Stdio = echo.stdout.take().expect("piped").try_into().expect("converted");
        let err: Stdio = echo.stderr.take().expect("piped").try_into().expect("converted");
        let upper = |input: Stdio| Command::new("tr").args(["a-z", "A-Z"]).stdin(input).output();
        let (out, err) = tokio::join!(upper(out), upper(err));
        assert_eq!((out.expect("run").stdout, err.expect("run").stdout), (b"HELLO\n".into(), b"OOPS\n".into()));
        assert!(echo.wait().await.expect("waited").success());
    });
}

#[test]
fn a_pipe_is_blocking_outside_and_non_blocking_inside() {
    on_both(|| async {
        let is_blocking = |fd: &dyn AsFd| !fcntl_getfl(fd.as_fd()).expect("asked").contains(OFlags::NONBLOCK);
        let (_child, stdin, stdout) = cat();
        assert!(!is_blocking(&stdin) && !is_blocking(&stdout));
        assert_eq!(stdin.as_raw_fd(), stdin.as_fd().as_raw_fd());
        let (stdin, stdout) = (stdin.into_owned_fd().expect("given"), stdout.into_owned_fd().expect("given"));
        assert!(is_blocking(&stdin) && is_blocking(&stdout));
        File::from(stdin).write_all(b"x").expect("written");
    });
}

#[test]
fn pipes_of_the_standard_library_are_taken_over() {
    on_both(|| async {
        let mut std = std::process::Command::new("sh");
        std.args(["-c", "tee /dev/stderr"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = std.spawn().expect("started");
        let mut stdin = ChildStdin::from_std(child.stdin.take().expect("piped")).expect("registered");
        let mut stdout = ChildStdout::from_std(child.stdout.take().expect("piped")).expect("registered");
        let mut stderr = ChildStderr::from_std(child.stderr.take().expect("piped")).expect("registered");
        stdin.write_all(b"twice").await.expect("written");
        drop(stdin);
        let (mut one, mut other) = (String::new(), String::new());
        tokio::try_join!(stdout.read_to_string(&mut one), stderr.read_to_string(&mut other)).expect("read");
        assert_eq!((one.as_str(), other.as_str()), ("twice", "twice"));
        child.wait().expect("waited");
    });
}

#[test]
fn what_cannot_be_started_is_an_error() {
    on_both(|| async {
        let error = Command::new("/nowhere/no-such-program").spawn().expect_err("not there");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(Command::new("/").status().await.expect_err("no program").kind(), ErrorKind::PermissionDenied);
        let error = Command::new("true").current_dir("/nowhere").output().await.expect_err("not there");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_program_that_is_being_written_is_busy() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("program");
        let mut options = File::options();
        let mut file = options.write(true).create(true).mode(0o755).open(&path).expect("made");
        file.write_all(b"#!/bin/sh\n").expect("written");
        let busy = Some(Errno::TXTBSY.raw_os_error());
        let of_std = std::process::Command::new(&path).status();
        // A system that lets running programs be written has nothing to test here.
        if of_std.err().and_then(|error| error.raw_os_error()) == busy {
            assert_eq!(Command::new(&path).spawn().expect_err("busy").raw_os_error(), busy);
        }
    });
}

#[test]
fn writing_consumes_budget() {
    on_both(|| async {
        let task = gmp_exec::spawn(async {
            let (_child, mut stdin, _stdout) = cat();
            stdin.write_all(b"x").await.expect("there is room");
            // From here on the exit is known, and the budget is new.
            gmp_exec::task::yield_now().await;
            let mut cx = Context::from_waker(Waker::noop());
            let (mut writes, mut write) = (0, || std::pin::Pin::new(&mut stdin).poll_write(&mut cx, b"x"));
            while let Poll::Ready(result) = write() {
                result.expect("written");
                writes += 1;
            }
            writes
        });
        assert_eq!(task.await.expect("no panic"), 128);
    });
}

#[test]
fn a_child_is_no_task() {
    let runtime = multi_thread();
    let _guard = runtime.enter();
    let _child = start(forever().kill_on_drop(true));
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
}

#[test]
fn starting_without_a_runtime_panics_before_there_is_a_child() {
    let path = tempfile::tempdir().expect("a directory");
    let trace = path.path().join("trace");
    let mut command = Command::new("touch");
    command.arg(&trace);
    let message = message_of(|| drop(command.spawn()));
    assert!(message.starts_with("there is no reactor running, must be called from the context of a Tokio 1.x runtime"));
    let runtime = Builder::new_multi_thread().enable_time().build().expect("a runtime");
    let guard = runtime.enter();
    let message = message_of(|| drop(command.status()));
    assert!(message.starts_with("A Tokio 1.x context was found, but IO is disabled."), "{message}");
    drop(guard);
    // If it had been started before, it would have exited long ago.
    multi_thread().block_on(within_deadline(async {
        assert!(!trace.exists());
        assert!(command.status().await.expect("run").success());
        assert!(trace.exists());
    }));
}
