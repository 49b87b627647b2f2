//! The traps that Go's scheduler has fallen into, one after the other (the list ends section 9 of the notes on Go).
//!
//! Each test provokes one of them from outside. sysmon, which would make up for most of them some milliseconds later, is
//! switched off wherever it is not what the trap is about: then what is lost stays lost.
//!
//! Three are not here, because they can't be provoked on purpose. That a queue must never look empty while it holds a
//! task, and that a thief must not steal into a ring that is not empty, are for the models of the ring (`sched`,
//! `loom_local_queue`); the second one is also a `debug_assert` that a test below runs into often. That the array
//! of processors must be copied before one is released is about changing their number while running, and the number
//! does not change here.

use crate::go_behaviour::FakeNetpoll;
use crate::support::{FOREVER, Flag, Watchdog, compute_for, multi, run, taken, wait_until};
use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, block_in_place, yield_now};
use gmp_exec::time::sleep;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Waits until every machine has retired: the next task must wake somebody.
fn wait_until_idle(runtime: &Runtime) {
    let metrics = runtime.metrics();
    wait_until(|| metrics.num_idle_workers() == metrics.num_workers() && metrics.num_spinning_machines() == 0);
}

/// A spinner must stop to count before it looks for the last time (#43997, #45867): a task that comes at exactly that
/// moment is seen by the spinner or wakes somebody. The pause between two tasks scans the time a machine takes to retire.
#[test]
fn a_task_that_arrives_while_machines_retire_is_run() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..3_000).map(|round| round % 300) {
            runtime.block_on(runtime.spawn(async {})).unwrap();
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// The same for timers: one that is set while the machines retire must not be slept through.
#[test]
fn a_timer_that_is_set_while_machines_retire_fires() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..600).map(|round| round % 300) {
            // From inside, where the timer is the processor's own, and from outside, where it is anybody's.
            runtime.block_on(runtime.spawn(sleep_briefly())).unwrap();
            runtime.block_on(sleep_briefly());
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
        }
    }
}

async fn sleep_briefly() {
    sleep(Duration::from_micros(20)).await;
}

/// And for the network: what becomes ready while the machines retire must have somebody in the poller.
#[test]
fn readiness_that_comes_while_machines_retire_is_seen() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..1_000).map(|round| round % 300) {
            let waiter = netpoll.clone();
            let task = runtime.spawn(async move { waiter.wait().await });
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
            netpoll.make_ready();
            runtime.block_on(task).unwrap();
        }
    }
}

/// A thief looks into its own ring before it steals, because the timers that it has just fired may have filled it.
#[test]
fn a_thief_that_fires_timers_runs_them_first() {
    let runtime = multi(4).sysmon(false).build().unwrap();
    let finished = Arc::new(AtomicUsize::new(0));
    let count = finished.clone();
    run(&runtime, async move {
        let sleepers: Vec<_> = (0..2_000u64)
            .map(|i| {
                let count = count.clone();
                spawn(async move {
                    // Waves of equal moments: who looks at the timers finds many due at once.
                    sleep(Duration::from_micros(500 * (i % 20))).await;
                    compute_for(Duration::from_micros(5));
                    count.fetch_add(1, SeqCst);
                })
            })
            .collect();
        for sleeper in sleepers {
            sleeper.await.unwrap();
        }
    });
    assert_eq!(finished.load(SeqCst), 2_000);
}

/// Who gives a processor on must do so for the same reasons for which a search would have stopped. With the last running
/// processor, somebody must be left who waits for the network.
#[test]
fn somebody_waits_for_the_network_while_the_last_processor_is_in_a_blocking_section() {
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            let runtime = multi(processors).sysmon(has_sysmon).build().unwrap();
            let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
            let waiter = netpoll.clone();
            let waiting = runtime.spawn(async move { waiter.wait().await });
            wait_until(|| netpoll.waiting() == 1);
            blocked_until(&runtime, || {
                netpoll.make_ready();
                wait_until(|| waiting.is_finished());
            });
        }
    }
}

/// The same for what is queued already, in the ring or in `runnext`, and for a timer.
#[test]
fn work_of_the_processor_goes_on_during_a_blocking_section() {
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            let runtime = multi(processors).sysmon(has_sysmon).build().unwrap();
            run(&runtime, async {
                let timer = spawn(sleep(Duration::from_millis(1)));
                yield_now().await;
                let queued: Vec<_> = (0..3).map(|_| spawn(async {})).collect();
                block_in_place(|| {
                    wait_until(|| queued.iter().all(JoinHandle::is_finished));
                    wait_until(|| timer.is_finished());
                });
            });
        }
    }
}

/// Holds a processor in a declared blocking section while `f` runs on this thread.
fn blocked_until(runtime: &Runtime, f: impl FnOnce()) {
    let _watchdog = Watchdog::of(runtime);
    let (begun, end) = (Flag::new(), Flag::new());
    let blocked = {
        let (begun, end) = (begun.clone(), end.clone());
        runtime.spawn(async move {
            block_in_place(|| {
                begun.set();
                end.wait();
            })
        })
    };
    begun.wait();
    f();
    end.set();
    runtime.block_on(blocked).unwrap();
}

/// A thread without a processor must not touch a ring: what a poll wakes after its processor was taken goes to the
/// global queue, and machines are started for it. More tasks than a ring holds, from one that blocks and one that
/// computes.
#[test]
fn a_poll_without_its_processor_can_spawn_and_wake() {
    for hog in [Hog::Blocks, Hog::Computes] {
        for processors in [1, 2] {
            let runtime = multi(processors).build().unwrap();
            let counters = runtime.handle().clone();
            let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
            let receiver = runtime.spawn(async move {
                let mut received = 0;
                while receive.recv().await.is_some() {
                    received += 1;
                }
                received
            });
            run(&runtime, async move {
                // Something must wait for the processor, or it is not taken.
                let waiting: Vec<_> = (0..2 * counters.metrics().num_workers()).map(|_| spawn(async {})).collect();
                hog.hold_on_until(|| waiting.iter().all(JoinHandle::is_finished));
                let spawned: Vec<_> = (0..1_000).map(|_| spawn(async {})).collect();
                (0..1_000).for_each(|i| send.send(i).unwrap());
                drop(send);
                hog.hold_on_until(|| spawned.iter().all(JoinHandle::is_finished) && receiver.is_finished());
                assert_eq!(receiver.await.unwrap(), 1_000);
            });
            // With a second processor there is somebody to steal.
            assert!(processors == 2 || taken(&runtime) != (0, 0));
        }
    }
}

#[derive(Clone, Copy)]
enum Hog {
    Blocks,
    Computes,
}

impl Hog {
    fn hold_on_until(self, condition: impl FnMut() -> bool) {
        match self {
            Hog::Blocks => wait_until(condition),
            Hog::Computes => crate::support::busy_wait_until(condition),
        }
    }
}

/// Go decides by counters whether all its threads sleep, and counted wrong while one was on its way from the poller to a
/// processor (or had been started a moment ago). Nothing here decides by such a count; what is left of the trap is that
/// nobody may be waiting for a thread that has just taken its last look.
#[test]
fn tasks_and_readiness_that_come_together_are_both_run() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let _watchdog = Watchdog::of(&runtime);
    for round in 0..2_000 {
        let waiter = netpoll.clone();
        let ready = runtime.spawn(async move { waiter.wait().await });
        if round % 2 == 0 {
            wait_until_idle(&runtime);
        }
        netpoll.make_ready();
        let task = runtime.spawn(yield_now());
        runtime.block_on(ready).unwrap();
        runtime.block_on(task).unwrap();
    }
}

/// Interruptions of the poller are coalesced; the word that does it may be cleared only by the one who sleeps there. If
/// an interrupter clears it, the next one's reason is slept through.
#[test]
fn interruptions_from_many_threads_at_a_time_are_all_noticed() {
    for has_netpoll in [true, false] {
        let runtime = multi(4).sysmon(false).build().unwrap();
        if has_netpoll {
            runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        }
        let _watchdog = Watchdog::of(&runtime);
        for _ in 0..300 {
            wait_until_idle(&runtime);
            thread::scope(|scope| {
                for kind in 0..4 {
                    let runtime = &runtime;
                    scope.spawn(move || match kind {
                        0 => runtime.block_on(sleep_briefly()),
                        _ => runtime.block_on(runtime.spawn(sleep_briefly())).unwrap(),
                    });
                }
            });
        }
    }
}

/// The wake-up that interrupts the sleeper may be met by a machine that only looks at the network in passing. It must not
/// get lost there.
#[test]
fn an_interruption_is_not_taken_away_by_who_looks_at_the_network() {
    let _watchdog = Watchdog::new();
    for _ in 0..50 {
        let runtime = multi(2).event_interval(1).sysmon(false).build().unwrap();
        runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let stop = Flag::new();
        let looking = stop.clone();
        let busy = runtime.spawn(async move {
            while !looking.is_set() {
                yield_now().await;
            }
        });
        for _ in 0..300 {
            runtime.block_on(runtime.spawn(async {})).unwrap();
        }
        stop.set();
        runtime.block_on(busy).unwrap();
        // A machine that was sent for in vain would not leave.
        drop(runtime);
    }
}

/// A task that goes back into the queue because it yields must wake somebody, too (Go's `goschedImpl` once did not).
#[test]
fn a_task_that_has_yielded_is_taken_over_by_an_idle_processor() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    for _ in 0..200 {
        wait_until_idle(&runtime);
        run(&runtime, async {
            let flag = Flag::new();
            let waiter = flag.clone();
            // In `runnext` of this processor, which will be busy with it until the flag is set.
            let busy = spawn(async move { waiter.wait() });
            yield_now().await;
            flag.set();
            busy.await.unwrap();
        });
    }
}

/// Whoever leaves the poller with one task wakes nobody, and if that task holds its thread, nobody watches the network until
/// sysmon has seen it twice (tokio #4730). Once that has happened sysmon looks more often.
#[test]
fn the_network_is_watched_again_soon_after_its_tasks_have_held_threads_before() {
    const ROUNDS: u32 = 20;
    let threshold = Duration::from_secs(2);
    let regular_look = threshold / 4;
    let runtime = multi(2).blocking_threshold(threshold).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        let (begun, end) = (Flag::new(), Flag::new());
        let holder = runtime.spawn({
            let (netpoll, begun, end) = (netpoll.clone(), begun.clone(), end.clone());
            async move {
                netpoll.wait().await;
                begun.set();
                end.wait();
            }
        });
        wait_until(|| netpoll.waiting() == 1);
        let other = runtime.spawn({
            let netpoll = netpoll.clone();
            async move {
                netpoll.wait().await;
                end.set();
            }
        });
        wait_until(|| netpoll.waiting() == 2);
        wait_until_idle(&runtime);
        netpoll.make_ready();
        begun.wait();
        netpoll.make_ready();
        runtime.block_on(async { (holder.await.unwrap(), other.await.unwrap()) });
    }
    // By regular looks alone it takes two a round.
    assert!(start.elapsed() < regular_look * ROUNDS, "{:?}", start.elapsed());
}

/// Wakers of foreign make are called by the machine's own code, which goes on with the processor afterwards. One that declares
/// a blocking section must not make the machine give it on.
#[test]
fn a_blocking_section_inside_a_waker_leaves_the_processor_where_it_is() {
    struct Blocks {
        woken: Flag,
        others_ran: AtomicUsize,
    }
    impl Wake for Blocks {
        fn wake(self: Arc<Self>) {
            let other = Flag::new();
            spawn({
                let other = other.clone();
                async move { other.set() }
            });
            let ran = block_in_place(|| other.wait_for(Duration::from_millis(100)));
            self.others_ran.store(usize::from(ran), SeqCst);
            self.woken.set();
        }
    }
    let runtime = multi(1).sysmon(false).build().unwrap();
    for _ in 0..3 {
        let blocks = Arc::new(Blocks { woken: Flag::new(), others_ran: AtomicUsize::new(0) });
        run(&runtime, {
            let blocks = blocks.clone();
            async move {
                let waker = Waker::from(blocks.clone());
                let mut timer = Box::pin(sleep(Duration::from_millis(5)));
                assert!(timer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                while !blocks.woken.is_set() {
                    yield_now().await;
                }
            }
        });
        assert_eq!(blocks.others_ran.load(SeqCst), 0, "the only processor was the waker's");
    }
}

/// A timer belongs to a processor, and whoever sleeps must know of it when the processor falls idle: the machine in the
/// poller has begun to sleep before the timer was set.
#[test]
fn the_sleeper_learns_of_a_timer_whose_processor_falls_idle() {
    for processors in [2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        for _ in 0..200 {
            let start = std::time::Instant::now();
            run(&runtime, async {
                // All processors are awake for a moment, and one of the machines that retire first lies down to sleep.
                let company: Vec<_> = (0..8).map(|_| spawn(yield_now())).collect();
                for task in company {
                    task.await.unwrap();
                }
                sleep(Duration::from_micros(300)).await;
            });
            assert!(start.elapsed() >= Duration::from_micros(300));
        }
    }
}

/// And when the processor is taken from a poll: the timers move with it.
#[test]
fn a_timer_fires_although_the_thread_that_set_it_is_stuck() {
    for hog in [Hog::Blocks, Hog::Computes] {
        for processors in [1, 2] {
            let runtime = multi(processors).build().unwrap();
            run(&runtime, async move {
                let timer = spawn(sleep(Duration::from_millis(1)));
                yield_now().await;
                hog.hold_on_until(|| timer.is_finished());
            });
        }
    }
}

/// sysmon must compare polls, not samples of a tick that may look alike: any number of short polls, one after the other
/// with work waiting, is never one long poll (#28701).
#[test]
fn many_short_polls_are_not_mistaken_for_one_long_poll() {
    // Far above what the system may stop a thread for.
    let threshold = Duration::from_millis(600);
    let runtime = multi(1).blocking_threshold(threshold).build().unwrap();
    run(&runtime, async move {
        let deadline = std::time::Instant::now() + 2 * threshold;
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                spawn(async move {
                    while std::time::Instant::now() < deadline {
                        compute_for(Duration::from_millis(1));
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(taken(&runtime), (0, 0));
}

/// And the other way round: a poll that is too long is found although others were seen on the same processor before it.
#[test]
fn a_long_poll_is_found_among_short_ones() {
    let runtime = multi(1).build().unwrap();
    let end = Flag::new();
    let stuck = end.clone();
    let tasks = run(&runtime, async move {
        let short = spawn(async {
            for _ in 0..1_000 {
                yield_now().await;
            }
        });
        let long = spawn(async move {
            for _ in 0..500 {
                yield_now().await;
            }
            assert!(!stuck.is_set());
            stuck.wait();
        });
        [short, long]
    });
    let _watchdog = Watchdog::of(&runtime);
    let [short, long] = tasks;
    runtime.block_on(short).unwrap();
    end.set();
    runtime.block_on(long).unwrap();
}

/// Not Go's: a processor that nobody needs stays with the poll that is stuck (#60693).
#[test]
fn nothing_is_taken_when_nothing_waits() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(1)).build().unwrap();
    let far = runtime.spawn(async { sleep(FOREVER).await });
    for hold_on in [thread::sleep, compute_for] {
        // The thread that has just finished a task may still be in the last steps of its poll.
        wait_until_idle(&runtime);
        run(&runtime, async move { hold_on(Duration::from_millis(100)) });
        assert_eq!(taken(&runtime), (0, 0));
    }
    far.abort();
}
