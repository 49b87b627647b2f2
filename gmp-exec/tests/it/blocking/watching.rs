//! Tasks that hold the thread of a current-thread runtime that is watched.

use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{BlockedCause, BlockedEntry, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{spawn_blocking, yield_now};
use gmp_exec::time::sleep;

use crate::support::{Flag, Watchdog, alone, compute_for, current, wait_until};

/// Long enough to be found on a machine that does other things besides.
const LONG: Duration = Duration::from_millis(300);

fn watched() -> Runtime {
    current().watch_current_thread(true).build().unwrap()
}

fn entry_at(runtime: &Runtime, line: u32) -> Option<BlockedEntry> {
    let entries = runtime.handle().blocked_report().entries;
    entries.into_iter().find(|entry| entry.location.file() == file!() && entry.location.line() == line)
}

fn wait_for(runtime: &Runtime, line: u32, is_expected: impl Fn(&BlockedEntry) -> bool) -> BlockedEntry {
    wait_until(|| entry_at(runtime, line).is_some_and(|entry| is_expected(&entry)));
    entry_at(runtime, line).unwrap()
}

fn is_over(entry: &BlockedEntry) -> bool {
    entry.under_way == 0
}

#[track_caller]
fn assert_length(entry: &BlockedEntry, least: Duration) {
    assert!(entry.total >= least && entry.total < LONG * 100, "{entry}");
}

#[test]
fn a_future_of_block_on_that_sleeps_is_reported_while_it_does() {
    let runtime = watched();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let line = line!() + 3;
    let under_way = thread::scope(|scope| {
        // Not a task, so that the dump of tasks must not have it.
        scope.spawn(|| runtime.block_on(async { end.wait() }));
        let found = wait_for(&runtime, line, |entry| !entry.calls.is_empty());
        assert_eq!(runtime.handle().tasks().count(), 0);
        end.set();
        found
    });
    assert_eq!((under_way.cause, under_way.count, under_way.under_way), (BlockedCause::Blocked, 1, 1));
    assert!(under_way.is_root && under_way.to_string().contains("future of block_on at "), "{under_way}");
    assert_eq!(under_way.calls[0].name, Some("futex"), "{under_way}");
    let over = wait_for(&runtime, line, is_over);
    assert_eq!(over.count, 1, "{over}");
}

#[test]
fn a_task_that_sleeps_is_reported_with_its_place() {
    let runtime = watched();
    let line = line!() + 1;
    let task = runtime.spawn(async { thread::sleep(LONG) });
    let id = task.id();
    runtime.block_on(task).unwrap();
    let entry = wait_for(&runtime, line, is_over);
    assert_eq!((entry.cause, entry.count, entry.is_root, entry.task), (BlockedCause::Blocked, 1, false, id));
    assert!(["clock_nanosleep", "nanosleep"].contains(&entry.calls[0].name.unwrap()), "{entry}");
    assert_length(&entry, LONG / 2);
}

#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn the_stack_of_a_future_of_block_on_begins_with_that_future() {
    let runtime = watched();
    let line = line!() + 2;
    runtime.block_on(async {
        thread::sleep(LONG);
    });
    let entry = wait_for(&runtime, line - 1, |entry| !entry.stacks.is_empty() || entry.no_stack.is_some());
    let stack = entry.stacks.first().unwrap_or_else(|| panic!("{entry}"));
    assert!(stack.to_string().ends_with(&format!("watching.rs:{line}")), "{stack:#}");
    let outermost = stack.frames().last().unwrap();
    assert!(outermost.file.as_ref().unwrap().ends_with("watching.rs"), "{stack:#}");
}

#[test]
fn a_task_that_computes_is_reported() {
    let _alone = alone();
    let runtime = watched();
    let _watchdog = Watchdog::of(&runtime);
    let line = line!() + 1;
    let task = runtime.spawn(async { compute_for(LONG) });
    runtime.block_on(task).unwrap();
    let entry = wait_for(&runtime, line, is_over);
    assert_eq!((entry.count, entry.calls.len()), (1, 0), "{entry}");
    // On a crowded machine it may get no core for most of the time.
    assert_ne!(entry.cause, BlockedCause::Blocked, "{entry}");
}

#[test]
fn each_poll_and_each_block_on_counts() {
    let runtime = watched();
    let line = line!() + 4;
    for _ in 0..2 {
        let blocks = async {
            // The polls of both tasks are added up.
            spawn(async {
                for _ in 0..3 {
                    thread::sleep(LONG);
                    yield_now().await;
                }
            })
            .await
            .unwrap();
            sleep(Duration::from_millis(50)).await;
        };
        runtime.block_on(blocks);
    }
    // On a crowded machine the report thread may come too late for one.
    let entry = wait_for(&runtime, line, |entry| entry.count >= 5 && is_over(entry));
    assert!(entry.count <= 6, "{entry}");
    assert_length(&entry, LONG * 3);
}

/// After the report thread has gone to sleep, it is woken by the thread that it watches.
#[test]
fn a_poll_after_a_pause_is_found() {
    let runtime = watched();
    let line = line!() + 1;
    runtime.block_on(async {
        for _ in 0..3 {
            sleep(LONG).await;
            thread::sleep(LONG);
        }
    });
    let entry = wait_for(&runtime, line, |entry| entry.count >= 2 && is_over(entry));
    assert!(entry.count <= 3, "{entry}");
    assert_length(&entry, LONG);
}

#[test]
fn a_program_that_holds_its_thread_for_short_times_reports_nothing() {
    let _alone = alone();
    let runtime = watched();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..1_000).map(|_| spawn(yield_now())).collect();
        for task in tasks {
            task.await.unwrap();
        }
        for _ in 0..100 {
            compute_for(Duration::from_micros(500));
            yield_now().await;
        }
        sleep(LONG).await;
        spawn_blocking(|| thread::sleep(LONG)).await.unwrap();
    });
    // Something that is reported, so that all that came before would be reported by now.
    let line = line!() + 1;
    runtime.block_on(async { thread::sleep(LONG) });
    wait_for(&runtime, line, is_over);
    let report = runtime.handle().blocked_report();
    // On a crowded machine a thread may wait for a core, or for a lock whose holder gets none.
    let long: Vec<_> = report.entries.iter().filter(|entry| entry.longest > LONG / 2).collect();
    assert_eq!((long.len(), long[0].location.line()), (1, line), "{report}");
}
