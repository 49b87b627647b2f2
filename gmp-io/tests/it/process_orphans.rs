//! Dropped children, and children whose runtime is gone.

use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use gmp_exec::runtime::Runtime;
use gmp_io::process::{Child, Command};
use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::process::forever;
use crate::support::{DEADLINE, current_thread, in_child, multi_thread, on_both, within_deadline};

fn start(runtime: &Runtime, command: &mut Command) -> Child {
    let _guard = runtime.enter();
    command.spawn().expect("started")
}

fn cat() -> Command {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

/// The state of a child of this process, if there is one with this number: `Z` is a zombie.
#[cfg(target_os = "linux")]
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which can contain any character.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?.chars().next();
    let parent: i32 = fields.next()?.parse().ok()?;
    state.filter(|_| parent == getpid().as_raw_nonzero().get())
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "{what}: not yet");
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn wait_until_reaped(pid: u32) {
    wait_until("reaped", || state(pid).is_none());
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process")).expect("a process");
    kill_process(pid, Signal::KILL).expect("killed");
}

#[test]
#[cfg(target_os = "linux")]
fn a_dropped_child_goes_on_and_leaves_no_zombie() {
    for runtime in [multi_thread(), current_thread()] {
        let mut child = start(&runtime, &mut cat());
        let (pid, stdin) = (child.id().expect("running"), child.stdin.take());
        drop(child);
        assert!(state(pid).is_some_and(|state| state != 'Z'), "it goes on");
        drop(stdin);
        wait_until_reaped(pid);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_that_has_exited_is_reaped_by_its_drop() {
    let runtime = multi_thread();
    let child = start(&runtime, &mut Command::new("true"));
    let pid = child.id().expect("not waited for");
    wait_until("exited", || state(pid) == Some('Z'));
    drop(child);
    assert_eq!(state(pid), None);
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_that_is_to_be_killed_is_killed_and_reaped() {
    on_both(|| async {
        let child = forever().kill_on_drop(true).spawn().expect("started");
        let pid = child.id().expect("running");
        drop(child);
        wait_until_reaped(pid);
        let mut child = forever().kill_on_drop(true).spawn().expect("started");
        let pid = child.id().expect("running");
        // Killed, waited for a little, dropped in between.
        let _ = gmp_exec::time::timeout(Duration::ZERO, child.kill()).await;
        drop(child);
        wait_until_reaped(pid);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_futures_of_a_command_kill_what_they_own() {
    on_both(|| async {
        let mut command = forever();
        command.kill_on_drop(true).env("GMP_TEST", "the_futures_of_a_command_kill_what_they_own");
        let before = running_with_mark();
        assert_eq!(before, 0);
        let (status, output) = (command.status(), command.output());
        wait_until("started", || running_with_mark() == 2);
        drop(status);
        drop(output);
        wait_until("killed", || running_with_mark() == 0);
    });
}

/// The number of children with the mark of the test above in their environment.
#[cfg(target_os = "linux")]
fn running_with_mark() -> usize {
    let mark = b"GMP_TEST=the_futures_of_a_command_kill_what_they_own";
    let processes = fs::read_dir("/proc").expect("Linux").filter_map(|entry| entry.ok());
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let marked = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        state(*pid).is_some() && environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    };
    pids.filter(marked).count()
}

#[test]
#[cfg(target_os = "linux")]
fn an_orphan_needs_no_runtime() {
    for runtime in [multi_thread(), current_thread()] {
        let child = start(&runtime, &mut forever());
        let pid = child.id().expect("running");
        drop(child);
        drop(runtime);
        assert!(state(pid).is_some_and(|state| state != 'Z'), "it goes on");
        kill(pid);
        wait_until_reaped(pid);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn many_orphans_are_all_reaped() {
    let runtime = multi_thread();
    let children: Vec<_> = (0..200).map(|_| start(&runtime, Command::new("sleep").arg("0.01"))).collect();
    let pids: Vec<_> = children.iter().map(|child| child.id().expect("running")).collect();
    let threads: Vec<_> = children.into_iter().map(|child| thread::spawn(move || drop(child))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("dropped"));
    drop(runtime);
    pids.into_iter().for_each(wait_until_reaped);
}

/// The thread that waits for orphans exists as long as there are any.
#[test]
#[cfg(target_os = "linux")]
fn without_orphans_there_is_no_thread_for_them() {
    in_child("process_orphans::without_orphans_there_is_no_thread_for_them", || {
        let runtime = multi_thread();
        for _ in 0..3 {
            let child = start(&runtime, &mut forever());
            let pid = child.id().expect("running");
            assert!(!reaper_is_there(), "no child has been dropped");
            drop(child);
            wait_until("at work", reaper_is_there);
            kill(pid);
            wait_until("gone", || !reaper_is_there());
            assert_eq!(state(pid), None);
        }
    });
}

#[cfg(target_os = "linux")]
fn reaper_is_there() -> bool {
    let threads = fs::read_dir("/proc/self/task").expect("Linux");
    let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
    threads.filter_map(|thread| thread.ok()).any(|thread| name(thread).trim() == "gmp-reaper")
}

#[test]
fn a_child_is_waited_for_in_another_runtime() {
    for (home, other) in [(multi_thread(), current_thread()), (current_thread(), multi_thread())] {
        let mut child = start(&home, &mut cat());
        let stdin = child.stdin.take();
        drop(home);
        let status = other.block_on(within_deadline(async {
            gmp_exec::time::timeout(Duration::from_millis(5), child.wait()).await.expect_err("still running");
            drop(stdin);
            child.wait().await.expect("waited")
        }));
        assert!(status.success());
    }
}

/// A wait is in progress in one runtime when the runtime in which the child was started ends.
#[test]
fn a_wait_survives_the_end_of_the_childs_runtime() {
    for (home, other) in [(multi_thread(), current_thread()), (current_thread(), multi_thread())] {
        let mut child = start(&home, &mut cat());
        let stdin = child.stdin.take();
        let status = other.block_on(within_deadline(async {
            let mut wait = Box::pin(child.wait());
            assert!(futures::poll!(wait.as_mut()).is_pending());
            gmp_exec::task::spawn_blocking(|| drop(home)).await.expect("dropped");
            drop(stdin);
            wait.await.expect("waited")
        }));
        assert!(status.success());
    }
}

#[test]
fn without_any_runtime_a_wait_is_an_error_and_the_status_is_not_lost() {
    for home in [multi_thread(), current_thread()] {
        let mut child = start(&home, &mut cat());
        let stdin = child.stdin.take();
        drop(home);
        let error = futures::executor::block_on(child.wait()).expect_err("no reactor");
        assert_eq!(error.to_string(), "A Tokio 1.x context was found, but it is being shutdown.");
        drop(stdin);
        wait_until("exited", || child.try_wait().expect("asked").is_some());
        assert!(futures::executor::block_on(child.wait()).expect("known").success());
    }
}

#[test]
fn a_foreign_executors_wait_ends_with_the_runtime() {
    for home in [multi_thread(), current_thread()] {
        let mut child = start(&home, cat().kill_on_drop(true));
        let _stdin = child.stdin.take();
        let (polled, was_polled) = std::sync::mpsc::channel();
        let waiting = thread::spawn(move || {
            futures::executor::block_on(async {
                let mut wait = Box::pin(child.wait());
                assert!(futures::poll!(wait.as_mut()).is_pending());
                polled.send(()).expect("the test is there");
                wait.await.expect_err("no reactor")
            })
        });
        was_polled.recv_timeout(DEADLINE).expect("it waits");
        drop(home);
        let error = waiting.join().expect("no panic");
        assert_eq!(error.to_string(), "A Tokio 1.x context was found, but it is being shutdown.");
    }
}
