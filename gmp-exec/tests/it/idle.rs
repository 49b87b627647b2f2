//! A runtime that has nothing to do does nothing: none of its threads wakes up.
//!
//! The tests count the context switches of every thread of a process that does nothing else, as the
//! system reports them.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

use gmp_exec::runtime::{BlockedEntry, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{FOREVER, Flag, current, in_child, in_place, multi, run, wait_until};

/// How often each thread but the calling one has left a core, by name.
pub(crate) fn switches() -> BTreeMap<String, u64> {
    let own = fs::read_link("/proc/thread-self").unwrap();
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|entry| entry.unwrap());
    let others = tasks.filter(|entry| Some(&*entry.file_name()) != own.file_name());
    // A thread may end while its files are being read.
    let statuses = others.filter_map(|entry| {
        let id = entry.file_name().into_string().unwrap();
        fs::read_to_string(entry.path().join("status")).ok().map(|status| (id, status))
    });
    statuses.map(|(id, status)| (format!("{} {id}", field(&status, "Name:")), count(&status))).collect()
}

fn count(status: &str) -> u64 {
    let number = |name| field(status, name).parse::<u64>().unwrap();
    number("voluntary_ctxt_switches:") + number("nonvoluntary_ctxt_switches:")
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim()
}

/// Checks that no thread wakes up for two seconds after all have gone to sleep. The test can't know
/// that moment, because a thread that gets no core also looks asleep, so it tries again.
pub(crate) fn assert_silent() {
    wait_until(|| {
        let before = switches();
        thread::sleep(Duration::from_secs(2));
        before == switches()
    });
}

/// Uses every kind of operation, so that every kind of thread has been started.
fn warm_up(runtime: &Runtime) {
    run(runtime, async {
        let hogs: Vec<_> = (0..4).map(|_| spawn(async { thread::sleep(Duration::from_millis(20)) })).collect();
        let tasks: Vec<_> = (0..1_000).map(|_| spawn(yield_now())).collect();
        sleep(Duration::from_millis(1)).await;
        for task in hogs.into_iter().chain(tasks) {
            task.await.unwrap();
        }
        gmp_exec::task::spawn_blocking(|| ()).await.unwrap();
        gmp_exec::task::spawn_blocking_in_place(|| ()).await.unwrap();
    });
}

#[test]
fn a_new_runtime_makes_no_wake_up() {
    in_child("idle::a_new_runtime_makes_no_wake_up", || {
        let _runtimes = [multi(1), multi(2), multi(64)].map(|mut builder| builder.build().unwrap());
        assert_silent();
    });
}

/// A runtime that follows the number of CPUs asks for it only while it has work.
#[test]
fn a_runtime_that_follows_makes_no_wake_up() {
    in_child("idle::a_runtime_that_follows_makes_no_wake_up", || {
        let runtime = gmp_exec::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        warm_up(&runtime);
        assert_silent();
    });
}

#[test]
fn a_runtime_that_has_worked_makes_no_wake_up() {
    in_child("idle::a_runtime_that_has_worked_makes_no_wake_up", || {
        let runtimes = [multi(1), multi(2), multi(8)].map(|mut builder| builder.build().unwrap());
        runtimes.iter().for_each(warm_up);
        assert_silent();
    });
}

/// The report thread, too, which stays until the end of the runtime.
#[test]
fn a_runtime_that_has_reported_blocked_tasks_makes_no_wake_up() {
    in_child("idle::a_runtime_that_has_reported_blocked_tasks_makes_no_wake_up", || {
        let runtime = multi(2).build().unwrap();
        run(&runtime, async { thread::sleep(Duration::from_millis(100)) });
        wait_until(|| !runtime.handle().blocked_report().entries.is_empty());
        assert!(switches().keys().any(|thread| thread.starts_with("gmp-report ")), "{:?}", switches());
        assert_silent();
    });
}

/// A watched thread that waits, before and after it was found to block.
#[test]
fn a_watched_thread_that_waits_makes_no_wake_up() {
    in_child("idle::a_watched_thread_that_waits_makes_no_wake_up", || {
        let runtime = Arc::new(current().watch_current_thread(true).build().unwrap());
        let (block, mut is_wanted) = tokio::sync::mpsc::unbounded_channel();
        let driver = runtime.clone();
        thread::spawn(move || {
            driver.block_on(async move {
                spawn(async { sleep(FOREVER).await });
                while is_wanted.recv().await.is_some() {
                    thread::sleep(Duration::from_millis(200));
                }
            })
        });
        for count in 1..=2 {
            block.send(()).unwrap();
            let is_found = |entry: &BlockedEntry| entry.count == count && entry.under_way == 0;
            wait_until(|| runtime.handle().blocked_report().entries.iter().any(is_found));
            assert!(switches().keys().any(|thread| thread.starts_with("gmp-report ")), "{:?}", switches());
            assert_silent();
        }
    });
}

/// Surplus machines end after their keep-alive time, and the others sleep on.
#[test]
fn what_is_left_after_a_burst_makes_no_wake_up() {
    in_child("idle::what_is_left_after_a_burst_makes_no_wake_up", || {
        let mut builder = multi(2);
        let runtime = builder.thread_keep_alive(Duration::from_millis(50)).build().unwrap();
        warm_up(&runtime);
        wait_until(|| runtime.metrics().num_machines() <= 2);
        assert_silent();
    });
}

/// Also with tasks that wait for the network and for a timer in the distant future.
#[test]
fn a_runtime_whose_tasks_wait_makes_no_wake_up() {
    in_child("idle::a_runtime_whose_tasks_wait_makes_no_wake_up", || {
        let runtimes = [multi(1), multi(2)].map(|mut builder| builder.build().unwrap());
        for runtime in &runtimes {
            warm_up(runtime);
            let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
            runtime.spawn(async move { netpoll.wait().await });
            runtime.spawn(async { sleep(FOREVER).await });
            runtime.spawn(pending::<()>());
        }
        assert_silent();
    });
}

#[test]
fn a_thread_that_waits_in_block_on_makes_no_wake_up() {
    in_child("idle::a_thread_that_waits_in_block_on_makes_no_wake_up", || {
        for runtime in [current(), multi(2)].map(|mut builder| builder.build().unwrap()) {
            let begun = Flag::new();
            let is_begun = begun.clone();
            thread::spawn(move || {
                runtime.block_on(async {
                    spawn(async { sleep(FOREVER).await });
                    spawn(yield_now()).await.unwrap();
                    is_begun.set();
                    pending::<()>().await
                })
            });
            begun.wait();
        }
        assert_silent();
    });
}

/// sysmon needn't watch a closure that blocks for long, such as one that reads from a terminal.
#[test]
fn a_blocked_closure_makes_no_wake_up() {
    in_child("idle::a_blocked_closure_makes_no_wake_up", || {
        let end = Flag::new();
        let runtimes = [multi(2), in_place(2)].map(|mut builder| builder.build().unwrap());
        let closures = runtimes.each_ref().map(|runtime| {
            let end = end.clone();
            runtime.spawn_blocking(move || end.wait())
        });
        assert_silent();
        end.set();
        for (runtime, closure) in runtimes.iter().zip(closures) {
            runtime.block_on(closure).unwrap();
        }
    });
}
