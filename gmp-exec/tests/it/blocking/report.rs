//! The report of the tasks that hold their threads. In each test a task blocks on purpose, and the
//! report must say so: the cause, the line that has spawned the task, how often, and the system
//! call.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{BlockedCause, BlockedEntry, BlockedReport, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, blocking, spawn_blocking, spawn_blocking_in_place, yield_now};
use gmp_exec::time::sleep;
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{Flag, Watchdog, alone, compute_for, current, multi, run, wait_until};

/// Long enough to be found on a machine that does other things besides.
const LONG: Duration = Duration::from_millis(300);

/// The report, as soon as it is as expected.
fn wait_for(runtime: &Runtime, is_expected: impl Fn(&BlockedReport) -> bool) -> BlockedReport {
    wait_until(|| is_expected(&runtime.handle().blocked_report()));
    runtime.handle().blocked_report()
}

/// The entry about this line of this file, if there is one.
fn entry_of(report: &BlockedReport, line: u32, cause: BlockedCause) -> Option<BlockedEntry> {
    let is_meant = |entry: &&BlockedEntry| {
        entry.location.file() == file!() && entry.location.line() == line && entry.cause == cause
    };
    report.entries.iter().find(is_meant).cloned()
}

/// Blocks a thread by `block`, wakes it by `unblock` once the report has it, and returns what the
/// report says.
fn report_of(block: impl FnOnce() + Send + 'static, unblock: impl FnOnce()) -> BlockedEntry {
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let line = line!() + 1;
    let task = runtime.spawn(async move { block() });
    let entry = |report: &BlockedReport| entry_of(report, line, BlockedCause::Blocked);
    let report = wait_for(&runtime, |report| entry(report).is_some_and(|entry| !entry.calls.is_empty()));
    let found = entry(&report).unwrap();
    assert_eq!((found.count, found.task, report.entries.len()), (1, task.id(), 1), "{report}");
    unblock();
    runtime.block_on(task).unwrap();
    let is_over = |report: &BlockedReport| entry(report).is_some_and(|entry| entry.under_way == 0);
    let over = entry(&wait_for(&runtime, is_over)).unwrap();
    assert_eq!(over.count, 1);
    assert!(over.longest >= found.longest.min(Duration::from_millis(1)) && over.total == over.longest, "{over}");
    over
}

fn assert_call(entry: &BlockedEntry, names: &[&str]) {
    let name = entry.calls[0].name.expect("it has a name");
    assert!(names.contains(&name), "{entry}");
}

#[test]
fn a_task_that_sleeps_is_reported() {
    let begin = Instant::now();
    let is_reported = Flag::new();
    let end = is_reported.clone();
    // A sleep is what the report must name. There are several, because sysmon may get no core during one.
    let sleep_until_reported = move || {
        while !end.is_set() {
            thread::sleep(LONG);
        }
    };
    let entry = report_of(sleep_until_reported, || is_reported.set());
    assert_call(&entry, &["clock_nanosleep", "nanosleep"]);
    assert!(entry.total >= LONG / 2 && entry.total <= begin.elapsed(), "{entry}");
}

#[test]
fn a_task_that_waits_for_a_channel_of_the_standard_library_is_reported() {
    let (sender, receiver) = mpsc::channel::<()>();
    let entry = report_of(move || receiver.recv().unwrap(), move || sender.send(()).unwrap());
    assert_call(&entry, &["futex"]);
    assert_eq!((entry.calls[0].descriptor, entry.calls[0].target.as_ref()), (None, None));
}

#[test]
fn a_task_that_waits_for_a_mutex_is_reported() {
    let mutex = Arc::new(Mutex::new(()));
    let other = mutex.clone();
    let guard = mutex.lock().unwrap();
    let entry = report_of(move || drop(other.lock().unwrap()), move || drop(guard));
    assert_call(&entry, &["futex"]);
}

#[test]
fn a_task_that_reads_from_a_pipe_is_reported_with_the_pipe() {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, mut output) = (cat.stdin.take(), cat.stdout.take().unwrap());
    let entry = report_of(move || assert_eq!(output.read(&mut [0]).unwrap(), 0), move || drop(input));
    assert_call(&entry, &["read"]);
    assert!(entry.calls[0].target.as_ref().unwrap().starts_with("pipe:["), "{entry}");
    assert!(cat.wait().unwrap().success());
}

/// Whoever names a file could otherwise add lines to what is printed.
#[test]
fn a_file_of_any_name_is_in_one_line() {
    let file = std::env::temp_dir().join(format!("gmp-report-{}\ngmp: forged\u{1b}[31m", std::process::id()));
    mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap();
    let input = File::options().read(true).write(true).open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut output = input.try_clone().unwrap();
    let entry = report_of(move || output.read_exact(&mut [0]).unwrap(), move || (&input).write_all(b"x").unwrap());
    assert_eq!(entry.to_string().lines().count(), 1, "{entry:?}");
    assert!(entry.to_string().contains(r"\ngmp: forged\u{1b}[31m"), "{entry:?}");
}

#[test]
fn a_task_that_computes_is_reported() {
    let _alone = alone();
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let flag = end.clone();
    let line = line!() + 1;
    let task = runtime.spawn(async move { flag.busy_wait() });
    let entry = |report: &BlockedReport| entry_of(report, line, BlockedCause::Computing);
    let report = wait_for(&runtime, |report| entry(report).is_some());
    let found = entry(&report).unwrap();
    assert_eq!((found.count, found.under_way, found.task), (1, 1, task.id()));
    assert_eq!(found.calls, []);
    end.set();
    runtime.block_on(task).unwrap();
    wait_for(&runtime, |report| entry(report).is_some_and(|entry| entry.under_way == 0));
}

/// The first poll is found by sysmon. Its task is known from then on, and its own machine records
/// the later polls.
#[test]
fn each_poll_of_a_task_that_blocks_again_and_again_counts() {
    const POLLS: u64 = 40;
    let runtime = multi(2).build().unwrap();
    let line = line!() + 2;
    run(&runtime, async move {
        let blocks = spawn(async {
            for _ in 0..POLLS {
                thread::sleep(Duration::from_millis(30));
                yield_now().await;
            }
        });
        blocks.await.unwrap()
    });
    let entry = |report: &BlockedReport| entry_of(report, line, BlockedCause::Blocked);
    wait_until(|| {
        let found = entry(&runtime.handle().blocked_report());
        // A poll that sysmon has not got to look at is missing: it may be starved on a crowded
        // machine.
        found.is_some_and(|entry| entry.count >= POLLS - 10 && entry.under_way == 0)
    });
    let found = entry(&runtime.handle().blocked_report()).unwrap();
    assert!(found.count <= POLLS, "{found}");
    assert!(found.total >= Duration::from_millis(30) * (POLLS as u32 - 12), "{found}");
}

#[test]
fn places_are_told_apart() {
    let runtime = multi(2).build().unwrap();
    let line = line!() + 2;
    run(&runtime, async {
        let first = spawn(async { thread::sleep(LONG) });
        let second = spawn(async { thread::sleep(LONG) });
        first.await.unwrap();
        second.await.unwrap();
    });
    let lines = [line, line + 1];
    let has =
        |report: &BlockedReport| lines.iter().all(|&line| entry_of(report, line, BlockedCause::Blocked).is_some());
    wait_for(&runtime, has);
}

/// Declared sections, short polls, timers, and a root future that blocks its own thread.
#[test]
fn a_program_that_blocks_nobody_reports_nothing() {
    let _alone = alone();
    let runtime = multi(2).build().unwrap();
    run(&runtime, async {
        let tasks: Vec<_> = (0..1_000).map(|_| spawn(yield_now())).collect();
        for task in tasks {
            task.await.unwrap();
        }
        sleep(Duration::from_millis(20)).await;
        block_in_place(|| thread::sleep(LONG));
        blocking(|| thread::sleep(LONG));
        spawn_blocking(|| thread::sleep(LONG)).await.unwrap();
        spawn_blocking_in_place(|| thread::sleep(LONG)).await.unwrap();
        sleep(Duration::from_millis(20)).await;
    });
    runtime.block_on(async { thread::sleep(LONG) });
    // Something that is reported, so that all that came before would be reported by now.
    run(&runtime, async { thread::sleep(LONG) });
    let report = wait_for(&runtime, |report| report.entries.iter().any(|entry| entry.longest > LONG / 2));
    // On a crowded machine a thread may wait for a lock whose holder gets no core, which is not for
    // long.
    let long: Vec<_> = report.entries.iter().filter(|entry| entry.longest > LONG / 2).collect();
    assert_eq!((long.len(), report.dropped), (1, 0), "{report}");
    assert!(long[0].total - long[0].longest < LONG / 2, "{report}");
}

/// The processor of this flavour is never taken, and no sysmon watches it.
#[test]
fn the_current_thread_flavour_reports_nothing_unless_it_is_watched() {
    let runtime = current().build().unwrap();
    run(&runtime, async { compute_for(Duration::from_millis(30)) });
    assert_eq!(runtime.handle().blocked_report().to_string(), "");
}

#[test]
fn the_report_outlives_the_runtime() {
    let runtime = multi(1).build().unwrap();
    run(&runtime, async { thread::sleep(LONG) });
    let report = wait_for(&runtime, |report| !report.entries.is_empty());
    let handle = runtime.handle().clone();
    drop(runtime);
    assert_eq!(handle.blocked_report().entries.len(), report.entries.len());
}
