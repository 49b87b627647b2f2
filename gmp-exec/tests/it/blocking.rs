//! Tasks that hold on to their thread: found by sysmon, known from before, or declared.

use crate::support::{FOREVER, Flag, Watchdog, busy_wait_until, compute_for, current, multi, run, taken, wait_until};
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::{AtShutdown, JoinHandle, block_in_place, blocking, spawn_blocking, yield_now};
use gmp_exec::time::sleep;
use gmp_exec::{spawn, task};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

async fn join<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut outputs = Vec::new();
    for task in tasks {
        outputs.push(task.await.unwrap());
    }
    outputs
}

/// In a poll: does not return before a task that was spawned just now has run.
fn hold_on_until_others_ran(wait: fn(&Flag)) {
    let flag = Flag::new();
    let other = flag.clone();
    spawn(async move { other.set() });
    wait(&flag);
}

// ---- taken by sysmon ----

#[test]
fn a_processor_is_taken_from_a_blocked_poll_and_counted_as_that() {
    let runtime = multi(1).build().unwrap();
    run(&runtime, async {
        for _ in 0..10 {
            spawn(async { hold_on_until_others_ran(Flag::wait) }).await.unwrap();
        }
    });
    let (blocked, burning) = taken(&runtime);
    assert!(blocked + burning >= 10, "each of them waits for the processor that it holds");
    // A thread that had to wait for a core before it could go to sleep looks busy.
    assert!(blocked > burning, "{blocked} blocked, {burning} burning");
}

#[test]
fn a_processor_is_taken_from_a_computing_poll_and_counted_as_that() {
    let runtime = multi(1).build().unwrap();
    // A thread that hardly gets a core looks blocked, so try until one is seen computing.
    wait_until(|| {
        run(&runtime, async { spawn(async { hold_on_until_others_ran(Flag::busy_wait) }).await.unwrap() });
        taken(&runtime).1 > 0
    });
    assert!(runtime.metrics().longest_poll() >= Duration::from_millis(10));
    wait_until(|| runtime.metrics().num_hogs() == 0);
}

#[test]
fn without_sysmon_nothing_is_taken_from_a_poll() {
    let runtime = multi(2).blocking_threshold(Duration::from_millis(1)).sysmon(false).build().unwrap();
    let end = Flag::new();
    let stuck = end.clone();
    let hog = runtime.spawn(async move { stuck.wait() });
    run(&runtime, async {
        for _ in 0..20 {
            sleep(Duration::from_millis(1)).await;
        }
    });
    end.set();
    runtime.block_on(hog).unwrap();
    assert_eq!(taken(&runtime), (0, 0));
}

// ---- known from before ----

/// Makes the running task hold on to its thread over several polls, each of which ends only after others have run.
async fn hold_on(polls: usize, wait: fn(&Flag)) {
    for _ in 0..polls {
        hold_on_until_others_ran(wait);
        thread::sleep(Duration::from_millis(5));
        yield_now().await;
    }
}

#[test]
fn a_known_hog_hands_its_processor_on_before_it_starts() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(300)).build().unwrap();
    run(&runtime, async { spawn(hold_on(6, Flag::wait)).await.unwrap() });
    let (blocked, burning) = taken(&runtime);
    assert_eq!(blocked + burning, 1, "only the first poll holds on to the processor");
}

#[test]
fn a_hog_is_forgiven_after_a_short_poll() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(300)).build().unwrap();
    run(&runtime, async {
        let reformed = spawn(async {
            for _ in 0..2 {
                hold_on(3, Flag::wait).await;
                // One of them will be short even on a busy machine.
                for _ in 0..200 {
                    yield_now().await;
                }
            }
        });
        reformed.await.unwrap();
    });
    let (blocked, burning) = taken(&runtime);
    assert_eq!(blocked + burning, 2, "a forgiven task holds on to the processor once more");
}

#[test]
fn known_hogs_do_not_delay_each_other_or_anybody() {
    let runtime = multi(2).max_hogs(8).build().unwrap();
    for wait in [Flag::wait, Flag::busy_wait] {
        run(&runtime, async move {
            let hogs = (0..8).map(|_| spawn(hold_on(5, wait))).collect();
            join(hogs).await;
        });
    }
}

// ---- caps ----

#[test]
fn computing_hogs_above_the_cap_wait_and_all_finish() {
    for (processors, most) in [(1, 1), (2, 1), (2, 3)] {
        let runtime = multi(processors).max_hogs(most).blocking_threshold(Duration::from_millis(2)).build().unwrap();
        let metrics = runtime.metrics();
        let stop = Flag::new();
        let observer = {
            let stop = stop.clone();
            thread::spawn(move || {
                let mut peak = 0;
                while !stop.is_set() {
                    peak = peak.max(metrics.num_hogs());
                    thread::yield_now();
                }
                peak
            })
        };
        run(&runtime, async {
            let hogs = (0..6).map(|_| {
                spawn(async {
                    for _ in 0..5 {
                        compute_for(Duration::from_millis(8));
                        yield_now().await;
                    }
                })
            });
            let hogs: Vec<_> = hogs.collect();
            for _ in 0..10 {
                sleep(Duration::from_millis(1)).await;
            }
            join(hogs).await;
        });
        stop.set();
        let peak = observer.join().unwrap();
        assert!(peak <= most, "{peak} hogs ran at a time");
        wait_until(|| runtime.metrics().num_hogs() == 0);
    }
}

#[test]
fn with_the_cap_on_machines_reached_all_tasks_finish() {
    for (processors, most) in [(1, 1), (2, 2), (2, 3), (4, 1), (8, 4)] {
        let runtime =
            multi(processors).max_machines(most).blocking_threshold(Duration::from_millis(1)).build().unwrap();
        let metrics = runtime.metrics();
        let within_cap = move || assert!(metrics.num_machines() <= most);
        run(&runtime, async move {
            let tasks = (0..30).map(|i| {
                let within_cap = within_cap.clone();
                spawn(async move {
                    for _ in 0..3 {
                        within_cap();
                        match i % 4 {
                            0 => thread::sleep(Duration::from_millis(4)),
                            1 => compute_for(Duration::from_millis(4)),
                            2 => block_in_place(|| thread::sleep(Duration::from_millis(4))),
                            _ => sleep(Duration::from_millis(1)).await,
                        }
                        spawn_blocking(|| thread::sleep(Duration::from_millis(1))).await.unwrap();
                        within_cap();
                    }
                })
            });
            join(tasks.collect()).await;
        });
    }
}

#[test]
fn surplus_machines_leave_after_their_keep_alive() {
    let runtime = multi(2).thread_keep_alive(Duration::from_millis(20)).build().unwrap();
    let together = Arc::new(Barrier::new(32));
    let tasks = (0..32).map(|_| {
        let together = together.clone();
        runtime.spawn_blocking(move || _ = together.wait())
    });
    let tasks = tasks.collect();
    run(&runtime, join(tasks));
    assert!(runtime.metrics().num_machines() > 2);
    let _watchdog = Watchdog::of(&runtime);
    wait_until(|| runtime.metrics().num_machines() <= 2);
    assert_eq!(run(&runtime, async { 42 }), 42);
}

// ---- overdue ----

/// sysmon looks at its next moment a quarter of an hour later: it is the submitter that takes the processor.
#[test]
fn a_submitter_takes_the_processor_of_a_section_for_which_nothing_waited() {
    let runtime = multi(1).blocking_threshold(FOREVER).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    for _ in 0..20 {
        let (begun, end) = (Flag::new(), Flag::new());
        let section = {
            let (begun, end) = (begun.clone(), end.clone());
            runtime.spawn(async move {
                block_in_place(|| {
                    begun.set();
                    end.wait();
                })
            })
        };
        begun.wait();
        runtime.block_on(runtime.spawn(async move { end.set() })).unwrap();
        runtime.block_on(section).unwrap();
    }
}

/// The same for a poll that was found to be stuck when nothing waited.
#[test]
fn a_submitter_takes_a_processor_that_is_overdue() {
    for hold_on in [Flag::wait, Flag::busy_wait] {
        let runtime = multi(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let end = Flag::new();
        let stuck = end.clone();
        let hog = runtime.spawn(async move { hold_on(&stuck) });
        wait_until(|| runtime.metrics().longest_poll() > Duration::from_millis(20));
        assert_eq!(taken(&runtime), (0, 0), "nothing waited");
        runtime.block_on(runtime.spawn(async move { end.set() })).unwrap();
        runtime.block_on(hog).unwrap();
        assert_ne!(taken(&runtime), (0, 0));
    }
}

// ---- block_in_place and blocking ----

fn every_setting() -> Vec<Runtime> {
    let mut runtimes = Vec::new();
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            runtimes.push(multi(processors).sysmon(has_sysmon).build().unwrap());
        }
    }
    runtimes
}

#[test]
fn others_run_during_block_in_place_and_during_blocking() {
    for runtime in every_setting() {
        run(&runtime, async {
            for _ in 0..20 {
                block_in_place(|| hold_on_until_others_ran(Flag::wait));
                blocking(|| hold_on_until_others_ran(Flag::wait));
                block_in_place(|| hold_on_until_others_ran(Flag::busy_wait));
                blocking(|| hold_on_until_others_ran(Flag::busy_wait));
                yield_now().await;
            }
        });
    }
}

#[test]
fn a_declared_section_does_not_make_a_task_a_known_hog() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(500)).build().unwrap();
    run(&runtime, async {
        for _ in 0..5 {
            block_in_place(|| hold_on_until_others_ran(Flag::wait));
            yield_now().await;
        }
        // If it were known, it would give the processor on now, and nothing would be taken.
        let before = Handle::current().metrics().worker_taken_from_blocked_count(0);
        hold_on_until_others_ran(Flag::wait);
        assert_eq!(Handle::current().metrics().worker_taken_from_blocked_count(0), before + 1);
    });
}

#[test]
fn sections_nest_and_return_what_the_closure_returns() {
    for runtime in every_setting() {
        let answer = run(&runtime, async {
            block_in_place(|| {
                hold_on_until_others_ran(Flag::wait);
                let inner = block_in_place(|| {
                    hold_on_until_others_ran(Flag::wait);
                    blocking(|| 41)
                });
                hold_on_until_others_ran(Flag::wait);
                inner + 1
            })
        });
        assert_eq!(answer, 42);
    }
}

#[test]
fn a_panic_inside_a_section_leaves_it() {
    for runtime in every_setting() {
        for section in [block_in_place::<fn(), ()>, blocking::<fn(), ()>] {
            run(&runtime, async move {
                let payload = catch_unwind(AssertUnwindSafe(|| section(|| panic!("boom")))).unwrap_err();
                assert_eq!(*payload.downcast::<&str>().unwrap(), "boom");
                // The section is over: a nested `block_on` is refused again, and the task can still wait.
                assert!(catch_unwind(AssertUnwindSafe(|| Handle::current().block_on(async {}))).is_err());
                sleep(Duration::from_micros(10)).await;
                let task = spawn(async move { block_in_place(|| section(|| panic!("boom"))) });
                assert!(task.await.unwrap_err().is_panic());
            });
        }
    }
}

#[test]
fn block_in_place_is_refused_on_the_current_thread_flavour() {
    let runtime = current().build().unwrap();
    let refused = || *catch_unwind(|| block_in_place(|| ())).unwrap_err().downcast::<&str>().unwrap();
    let message = "can call blocking only when running on the multi-threaded runtime";
    assert_eq!(runtime.block_on(async { refused() }), message);
    assert_eq!(runtime.block_on(async { spawn(async move { refused() }).await.unwrap() }), message);
    // Its blocking closures may: they are not on the thread that runs tasks. And so may everybody else.
    assert_eq!(runtime.block_on(runtime.spawn_blocking(|| block_in_place(|| 42))).unwrap(), 42);
    let _entered = runtime.enter();
    assert_eq!(block_in_place(|| 42), 42);
    assert_eq!(runtime.block_on(async { blocking(|| 42) }), 42);
}

#[test]
fn a_whole_block_on_works_inside_a_section() {
    for runtime in every_setting() {
        run(&runtime, async {
            block_in_place(use_the_runtime);
            blocking(use_the_runtime);
            spawn_blocking(use_the_runtime).await.unwrap();
            block_in_place(|| {
                let inner = current().build().unwrap();
                inner.block_on(async { spawn(sleep(Duration::from_micros(10))).await.unwrap() });
            });
        });
    }
}

/// Blocks the thread on tasks, timers and a yield of the current runtime.
fn use_the_runtime() {
    Handle::current().block_on(async {
        let nested = spawn(async { spawn(async { 42 }).await.unwrap() });
        sleep(Duration::from_micros(10)).await;
        yield_now().await;
        assert_eq!(nested.await.unwrap(), 42);
    });
}

#[test]
fn sections_need_no_runtime() {
    assert_eq!(block_in_place(|| blocking(|| 42)), 42);
}

// ---- spawn_blocking ----

#[test]
fn closures_that_wait_for_each_other_all_get_to_run() {
    for runtime in every_setting().into_iter().chain([current().build().unwrap()]) {
        for _ in 0..3 {
            let together = Arc::new(Barrier::new(64));
            let closures = (0..64).map(|_| {
                let together = together.clone();
                runtime.spawn_blocking(move || _ = together.wait())
            });
            let closures = closures.collect();
            run(&runtime, join(closures));
        }
    }
}

#[test]
fn no_more_closures_run_than_allowed_and_all_finish() {
    let limited = [multi(1), multi(2), multi(8), current()];
    for runtime in limited.map(|mut builder| builder.max_blocking_threads(4).build().unwrap()) {
        let (running, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let closures = (0..200).map(|_| {
            let (running, peak) = (running.clone(), peak.clone());
            runtime.spawn_blocking(move || {
                let now = running.fetch_add(1, SeqCst) + 1;
                peak.fetch_max(now, SeqCst);
                // The first ones wait until as many run as may.
                wait_until(|| peak.load(SeqCst) >= 4);
                thread::yield_now();
                running.fetch_sub(1, SeqCst);
            })
        });
        let closures = closures.collect();
        run(&runtime, join(closures));
        assert_eq!(peak.load(SeqCst), 4);
        wait_until(|| runtime.metrics().num_blocking_threads() == 0);
        assert_eq!(runtime.metrics().blocking_queue_depth(), 0);
    }
}

#[test]
fn tasks_run_while_as_many_closures_block_as_may() {
    let limited = [multi(1), multi(2), current()];
    for runtime in limited.map(|mut builder| builder.max_blocking_threads(2).build().unwrap()) {
        let end = Flag::new();
        let closures = (0..10).map(|_| {
            let end = end.clone();
            runtime.spawn_blocking(move || end.wait())
        });
        let closures: Vec<_> = closures.collect();
        run(&runtime, async {
            for _ in 0..20 {
                spawn(sleep_a_little()).await.unwrap();
            }
        });
        assert!(closures.iter().all(|closure| !closure.is_finished()));
        end.set();
        run(&runtime, join(closures));
    }
}

async fn sleep_a_little() {
    sleep(Duration::from_micros(100)).await;
}

#[test]
fn a_closure_is_not_on_a_thread_that_runs_tasks() {
    for runtime in [multi(2), current()].map(|mut builder| builder.build().unwrap()) {
        run(&runtime, async {
            let closure = spawn_blocking(|| {
                assert!(task::try_id().is_some());
                // Blocking is what a closure is for: another runtime, or its own, may be entered and dropped.
                use_the_runtime();
                drop(multi(1).build().unwrap());
            });
            closure.await.unwrap();
        });
    }
}

#[test]
fn a_closure_that_panics_gives_its_place_back() {
    for runtime in [multi(1), current()].map(|mut builder| builder.max_blocking_threads(1).build().unwrap()) {
        run(&runtime, async {
            for _ in 0..20 {
                assert!(spawn_blocking(|| panic!("boom")).await.unwrap_err().is_panic());
            }
            assert_eq!(spawn_blocking(|| 42).await.unwrap(), 42);
        });
    }
}

#[test]
fn a_closure_can_be_aborted_until_it_starts() {
    for runtime in [multi(1), multi(2), current()].map(|mut builder| builder.max_blocking_threads(1).build().unwrap()) {
        let (begun, end) = (Flag::new(), Flag::new());
        let running = {
            let (begun, end) = (begun.clone(), end.clone());
            runtime.spawn_blocking(move || {
                begun.set();
                end.wait();
                42
            })
        };
        begun.wait();
        let ran = Arc::new(AtomicBool::new(false));
        let witness = ran.clone();
        let waiting = runtime.spawn_blocking(move || witness.store(true, SeqCst));
        waiting.abort();
        running.abort();
        end.set();
        let results = run(&runtime, async { (running.await, waiting.await) });
        assert_eq!(results.0.unwrap(), 42, "a closure that runs is not stopped");
        assert!(results.1.unwrap_err().is_cancelled());
        assert!(!ran.load(SeqCst));
    }
}

#[test]
fn short_closures_in_great_number_all_run() {
    for runtime in every_setting().into_iter().chain([current().build().unwrap()]) {
        let sum: u64 = run(&runtime, async {
            let closures = (0..2_000u64).map(|i| spawn_blocking(move || i)).collect();
            join(closures).await.into_iter().sum()
        });
        assert_eq!(sum, 1_999 * 2_000 / 2);
    }
}

/// The current-thread flavour has one thread for tasks, and nothing may take its processor.
#[test]
fn closures_run_beside_the_thread_of_the_current_thread_flavour() {
    let runtime = current().build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    runtime.block_on(async {
        let tasks_thread = thread::current().id();
        let flag = Flag::new();
        let closure = {
            let flag = flag.clone();
            spawn_blocking(move || {
                flag.set();
                thread::current().id()
            })
        };
        busy_wait_until(|| flag.is_set());
        assert_ne!(closure.await.unwrap(), tasks_thread);
    });
}

// ---- what the end of the runtime means for a closure ----

#[test]
fn the_end_of_a_runtime_does_not_wait_for_an_abandoned_closure() {
    for mut builder in [multi(2), current()] {
        let runtime = builder.build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let (started, release, ended) = (Flag::new(), Flag::new(), Flag::new());
        runtime.handle().spawn_blocking_with(AtShutdown::Abandon, {
            let (started, release, ended) = (started.clone(), release.clone(), ended.clone());
            move || {
                started.set();
                release.wait();
                ended.set();
            }
        });
        started.wait();
        drop(runtime);
        release.set();
        ended.wait();
    }
}

#[test]
fn a_closure_that_must_finish_runs_although_it_had_not_begun() {
    for mut builder in [multi(1), current()] {
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let (started, release) = (Flag::new(), Flag::new());
        let ran = Arc::new(AtomicUsize::new(0));
        runtime.handle().spawn_blocking({
            let (started, release) = (started.clone(), release.clone());
            move || {
                started.set();
                release.wait();
            }
        });
        started.wait();
        let mut handles = Vec::new();
        for _ in 0..10 {
            let ran = ran.clone();
            handles.push(runtime.handle().spawn_blocking_with(AtShutdown::Finish, move || ran.fetch_add(1, SeqCst)));
        }
        let cancelled = runtime.handle().spawn_blocking(|| ());
        runtime.handle().spawn_blocking_with(AtShutdown::Finish, move || release.set());
        drop(runtime);
        assert_eq!(ran.load(SeqCst), 10);
        let other = multi(1).build().unwrap();
        assert_eq!(other.block_on(join(handles)).len(), 10, "their handles have the results");
        assert!(other.block_on(cancelled).unwrap_err().is_cancelled(), "an ordinary closure is cancelled");
    }
}

#[test]
fn shutdown_background_does_not_wait_for_a_closure_that_must_finish() {
    let runtime = multi(1).max_blocking_threads(1).build().unwrap();
    let (release, ended) = (Flag::new(), Flag::new());
    let wait_for = |what: &Flag, then: &Flag| {
        let (what, then) = (what.clone(), then.clone());
        move || {
            what.wait();
            then.set();
        }
    };
    for _ in 0..3 {
        runtime.handle().spawn_blocking_with(AtShutdown::Finish, wait_for(&release, &ended));
    }
    runtime.shutdown_background();
    release.set();
    ended.wait();
}

#[test]
fn an_aborted_closure_does_not_run_even_if_it_should_finish() {
    let runtime = multi(1).max_blocking_threads(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let (started, release) = (Flag::new(), Flag::new());
    runtime.handle().spawn_blocking({
        let (started, release) = (started.clone(), release.clone());
        move || {
            started.set();
            release.wait();
        }
    });
    started.wait();
    let ran = Arc::new(AtomicBool::new(false));
    let closure = runtime.handle().spawn_blocking_with(AtShutdown::Finish, {
        let ran = ran.clone();
        move || ran.store(true, SeqCst)
    });
    closure.abort();
    release.set();
    drop(runtime);
    assert!(!ran.load(SeqCst));
}
