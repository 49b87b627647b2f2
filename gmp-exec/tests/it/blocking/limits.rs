//! The number of threads stays within its limits, however many would be useful, and surplus threads
//! end.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, spawn_blocking_in_place, yield_now};
use gmp_exec::time::sleep;

use crate::futures::join;
use crate::support::{Flag, Watchdog, compute_for, in_place, multi, run, taken, wait_until};

/// Hogs beyond the limit go on one by one, and more rarely the more there are.
#[test]
fn computing_hogs_stay_near_the_cap_and_all_finish() {
    for (processors, most) in [(1, 1), (2, 1), (2, 3)] {
        let runtime = multi(processors).max_hogs(most).blocking_threshold(Duration::from_millis(8)).build().unwrap();
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
            let hogs = (0..40).map(|_| {
                spawn(async {
                    for _ in 0..3 {
                        compute_for(Duration::from_millis(12));
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
        assert!(peak <= most + 16, "{peak} hogs ran at a time");
        wait_until(|| runtime.metrics().num_hogs() == 0);
    }
}

/// What the poll does after it has lost its processor changes nothing.
#[test]
fn a_poll_that_loses_its_processor_while_it_computes_holds_a_permit_until_it_ends() {
    let runtime = multi(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let hogs = || runtime.metrics().num_hogs();
    let [ran, end] = [(); 2].map(|()| Flag::new());
    let task = {
        let (ran, end) = (ran.clone(), end.clone());
        runtime.spawn(async move {
            ran.busy_wait();
            end.wait();
        })
    };
    let other = runtime.spawn(async move { ran.set() });
    runtime.block_on(other).unwrap();
    assert_eq!(hogs() as u64, taken(&runtime).1);
    end.set();
    runtime.block_on(task).unwrap();
    wait_until(|| hogs() == 0);
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
                        spawn_blocking_in_place(|| thread::sleep(Duration::from_millis(1))).await.unwrap();
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
    let runtime = in_place(2).thread_keep_alive(Duration::from_millis(20)).build().unwrap();
    let together = Arc::new(Barrier::new(32 + 1));
    let tasks = (0..32).map(|_| {
        let together = together.clone();
        runtime.spawn_blocking(move || _ = together.wait())
    });
    let tasks = tasks.collect();
    let _watchdog = Watchdog::of(&runtime);
    wait_until(|| runtime.metrics().num_machines() > 2);
    together.wait();
    run(&runtime, join(tasks));
    wait_until(|| runtime.metrics().num_machines() <= 2);
    assert_eq!(run(&runtime, async { 42 }), 42);
}

/// All machines that the limit allows are in sections, one of them with the only processor. The
/// first one to leave its section gets the processor, although it is no spare machine then but
/// sleeps in the netpoll.
#[test]
fn at_the_cap_a_machine_that_comes_back_gets_the_processor_from_a_section() {
    for has_sysmon in [true, false] {
        all_machines_hold(has_sysmon, Release::FromOutside, |wait| block_in_place(wait));
    }
}

/// The same with no queued work: the task that ends the section waits for a timer of the processor
/// that the section holds.
#[test]
fn at_the_cap_a_machine_that_comes_back_gets_the_timers_of_a_section() {
    for has_sysmon in [true, false] {
        all_machines_hold(has_sysmon, Release::ByTimer, |wait| block_in_place(wait));
    }
}

/// The same with a closure, which holds the processor without a declared section.
#[test]
fn at_the_cap_a_machine_that_comes_back_gets_the_processor_from_a_closure() {
    for has_sysmon in [true, false] {
        for release in [Release::FromOutside, Release::ByTimer] {
            all_machines_hold(has_sysmon, release, |wait| drop(spawn_blocking_in_place(wait)));
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Release {
    FromOutside,
    ByTimer,
}

/// One machine begins a section and hands off the only processor to the other machine. That one
/// then holds the processor by `hold`, which it calls with a closure that waits. Before this wait
/// ends, the first machine leaves its section.
fn all_machines_hold(has_sysmon: bool, release: Release, hold: fn(Box<dyn FnOnce() + Send>)) {
    let runtime = multi(1).max_machines(2).sysmon(has_sysmon).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let [begun, first, second] = [(); 3].map(|()| Flag::new());
    let wait: Box<dyn FnOnce() + Send> = {
        let (begun, second) = (begun.clone(), second.clone());
        Box::new(move || {
            begun.set();
            second.wait();
        })
    };
    let (end_first, end_second) = (first.clone(), second.clone());
    let giver = runtime.spawn(async move {
        let holder = spawn(async move {
            if release == Release::ByTimer {
                spawn(async move {
                    sleep(Duration::from_millis(20)).await;
                    end_second.set();
                });
                yield_now().await;
            }
            hold(wait);
        });
        block_in_place(|| end_first.wait());
        holder.await.unwrap();
    });
    begun.wait();
    let end_second = second.clone();
    let released = (release == Release::FromOutside).then(|| runtime.spawn(async move { end_second.set() }));
    first.set();
    second.wait();
    runtime.block_on(giver).unwrap();
    released.into_iter().for_each(|task| runtime.block_on(task).unwrap());
}
