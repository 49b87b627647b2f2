//! Finding a task to run: the order of looking, and nothing else (Go: `findrunnable`).
//!
//! As a rule the machine looks at its own queue first. Every `global_queue_interval` turns the
//! global queue comes before that; every `event_interval` turns timers and the network do; every 8
//! turns the processor's own timers do. So a busy processor can't starve them. A turn counts even
//! if the task comes from `runnext` (Go #52934). Where turns are long, sysmon asks for a look at
//! all of these, so that they are served in time (`sysmon::look`). If its own queue is
//! empty, the machine looks at timers, the global queue, one other processor's ring, and the network. Then
//! it spins: it looks at all other processors several times. Then it parks (`park`).

use crate::observe::{self, Event};
use crate::sched::local::{Held, Local, Next};
use crate::sched::park::netpoll::or_panic;
use crate::sched::park::{obtain_processor, park};
use crate::sched::resize::give_away_queue;
use crate::sched::run::fire_timers::{fire_timers, fire_timers_of, fire_unserved_timers};
use crate::sched::run::steal;
use crate::sched::shutdown;
use crate::sched::state::processor::local_queue::{CAPACITY, HALF};
use crate::sched::state::unusual::SPINS;
use crate::sched::submit::wake::wake_one;
use crate::sched::submit::{inject, push_tail};
use crate::sync::atomic::Ordering::Relaxed;
use crate::task::Runnable;

/// Turns between looks at the processor's own timers, if there are any: such a look reads the clock
/// (about 20 ns).
const TIMER_INTERVAL: u32 = 8;

/// Finds a task to run, and sleeps while there is none. `None`: the machine must exit. If a task is
/// returned, the machine holds a processor.
#[doc(alias = "findrunnable")]
#[inline]
pub(in crate::sched) fn find_runnable(local: &Local) -> Option<Runnable> {
    loop {
        if let Some(task) = take_own(local) {
            return Some(task);
        }
        match look_further(local) {
            Next::Look => {}
            Next::Run(task) => return Some(task),
            Next::Exit => return None,
        }
    }
}

/// The common case: the processor has a task of its own.
#[inline]
fn take_own(local: &Local) -> Option<Runnable> {
    if local.scheduler.is_shutdown() {
        return None;
    }
    let held = local.held()?;
    // This begins a turn. On some turns other queues come before the processor's own.
    let first = if held.processor.is_look_due(&held.proof) { look_around(local, &held) } else { None };
    first.or_else(|| held.processor.pop(&held.proof))
}

/// The rare cases: the processor has no task of its own, the machine has no processor, or the
/// runtime is shutting down. Not inlined, so that the common case does not pay for its setup.
#[inline(never)]
fn look_further(local: &Local) -> Next {
    if local.scheduler.is_shutdown() {
        shutdown::leave(local);
        return Next::Exit;
    }
    observe::on(local, Event::Search);
    let Some(held) = local.held() else {
        return obtain_processor(local);
    };
    if local.scheduler.idle.has_surplus() {
        // The queue is empty, as before every search.
        return park(local);
    }
    match search(local, &held) {
        Some(task) => Next::Run(task),
        None => park(local),
    }
}

/// A turn on which other queues come before the processor's own.
#[cold]
fn look_around(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let processor = held.processor;
    if local.scheduler.idle.has_surplus() {
        give_away_queue(local, held);
        return None;
    }
    let config = &local.scheduler.config;
    observe::on_look_around(local, held.index);
    let tick = processor.ticks();
    let is_asked = processor.take_look_asked(&held.proof);
    let is_yielding = processor.is_yielding_only(&held.proof);
    processor.schedule_look(&held.proof, [config.global_queue_interval, config.event_interval, TIMER_INTERVAL]);
    if is_asked || is_yielding || tick % config.event_interval == 0 {
        if is_asked || !config.sysmon {
            fire_timers(local)
        } else {
            fire_unserved_timers(local, held)
        }
        queue_ready(local, held, or_panic(local.scheduler.netpoll_gate.look(local)));
        if processor.has_work_to_share(&held.proof) {
            wake_one(&local.scheduler);
        }
    } else if tick % TIMER_INTERVAL == 0 && processor.timers.earliest() != u64::MAX {
        fire_timers_of(local, held.index);
    }
    if is_asked || tick % config.global_queue_interval == 0 { take_global_in_turn(local, held) } else { None }
}

/// Appends tasks that became ready to the ring. The caller wakes other machines.
fn queue_ready(local: &Local, held: &Held<'_>, ready: Vec<Runnable>) {
    held.processor.counters.local_schedules.add(ready.len() as u64);
    for task in ready {
        push_tail(&local.scheduler, held, task);
    }
}

/// Everything else, in order.
fn search(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    fire_timers(local);
    let mut own_part = held.index;
    held.processor
        .pop(&held.proof)
        .or_else(|| take_global(local, held, &mut own_part))
        .or_else(|| steal::steal_queued(local, held))
        .or_else(|| inject(local, held, or_panic(local.scheduler.netpoll_gate.look(local))))
        .or_else(|| steal_some(local, held))
}

fn steal_some(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    if local.scheduler.processors.len() == 1 {
        return None;
    }
    if !local.unusual.is_any(SPINS) {
        if !local.scheduler.idle.try_spin() {
            return None;
        }
        local.unusual.set(SPINS, true);
    }
    steal::steal(local, held)
}

/// This processor's share of a part of the global queue: one task to run, the rest into the ring.
/// If only one task were taken at a time, the queue would starve behind a task that yields
/// (measured: 2 300 ns a task instead of 160).
///
/// `part`: in, where to begin; out, the part after the one that had tasks. A processor that searches
/// begins at the part that its index chooses, so that searchers don't all meet at the same part.
#[doc(alias = "globrunqget")]
#[inline]
pub(in crate::sched) fn take_global(local: &Local, held: &Held<'_>, part: &mut usize) -> Option<Runnable> {
    let scheduler = &local.scheduler;
    let free_slots = CAPACITY - held.processor.queue.len();
    let mut kept = false;
    let first = scheduler.global.pop(part, scheduler.idle.active(), free_slots.min(HALF), |task| {
        let pushed = held.processor.queue.push(&held.proof, task);
        debug_assert!(pushed.is_ok(), "there are free slots, and only the owner pushes");
        kept = true;
    });
    if kept {
        wake_one(scheduler);
    }
    first
}

/// The look of a busy processor, which serves the parts that have tasks in turn. So tasks that keep
/// one part filled don't hold up those in another, however few processors there are.
fn take_global_in_turn(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let mut part = held.processor.next_part.load(Relaxed);
    let first = take_global(local, held, &mut part);
    held.processor.next_part.store(part, Relaxed);
    first
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::context;
    use crate::runtime::{Builder, Runtime};

    const PROCESSORS: usize = 64;
    const PARTS: usize = 8;
    /// Between two looks at a condition.
    const PAUSE: Duration = Duration::from_micros(200);

    #[derive(Default)]
    struct Filler {
        turns: AtomicUsize,
        part: AtomicUsize,
        end: AtomicBool,
    }

    /// Set when the test ends, however it does.
    struct End<'a>(&'a Filler);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.end.store(true, SeqCst);
        }
    }

    /// One processor is left. Turns are long, so sysmon asks for the looks at the global queue.
    #[test]
    fn a_part_that_is_always_filled_does_not_hold_up_the_others() {
        let runtime = Builder::new_multi_thread().worker_threads(PROCESSORS).build().unwrap();
        runtime.handle().set_max_procs(1).unwrap();
        // A processor that retires later would bring its tasks to another part.
        while runtime.metrics().num_retired_workers() < PROCESSORS - 1 {
            thread::sleep(PAUSE);
        }
        let filler = Arc::new(Filler::default());
        let longest = thread::scope(|scope| {
            let _end = End(&filler);
            scope.spawn(|| keep_a_part_filled(&runtime, &filler));
            wait_for_turns(&filler, 1);
            let mut served = HashSet::from([filler.part.load(SeqCst)]);
            let mut longest = 0;
            while served.len() < PARTS {
                let (part, wait) = thread::scope(|scope| {
                    let wait_in_part = || {
                        let part = part(&runtime);
                        (part, if served.contains(&part) { 0 } else { wait(&runtime, &filler) })
                    };
                    scope.spawn(wait_in_part).join().unwrap()
                });
                served.insert(part);
                longest = longest.max(wait);
            }
            longest
        });
        // 1 to 6 turns. If each look began at the part after the one at which the last regular look
        // began, 424.
        let two_regular_looks = 2 * 61;
        assert!(longest <= two_regular_looks, "{longest} turns");
    }

    /// The part to which this thread pushes.
    fn part(runtime: &Runtime) -> usize {
        context::number(runtime.handle().scheduler()) % PARTS
    }

    fn keep_a_part_filled(runtime: &Runtime, filler: &Arc<Filler>) {
        filler.part.store(part(runtime), SeqCst);
        let mut spawned = 0;
        while !filler.end.load(SeqCst) {
            if spawned - filler.turns.load(SeqCst) > 400 {
                thread::sleep(PAUSE);
                continue;
            }
            spawned += 1;
            let filler = filler.clone();
            drop(runtime.spawn(async move {
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_millis(4) && !filler.end.load(SeqCst) {}
                filler.turns.fetch_add(1, SeqCst);
            }));
        }
    }

    fn wait_for_turns(filler: &Filler, turns: usize) {
        let begun = filler.turns.load(SeqCst);
        while filler.turns.load(SeqCst) < begun + turns {
            thread::sleep(PAUSE);
        }
    }

    /// How many turns come before a new task's: the median, because this thread, or sysmon's, may
    /// get no core for a while.
    fn wait(runtime: &Runtime, filler: &Arc<Filler>) -> usize {
        let turns = |_| {
            // Every other time, a regular look is between two waits.
            wait_for_turns(filler, 31);
            let before = filler.turns.load(SeqCst);
            let filler = filler.clone();
            let run = runtime.spawn(async move { filler.turns.load(SeqCst) });
            runtime.block_on(run).unwrap() - before
        };
        let mut waits: Vec<usize> = (0..5).map(turns).collect();
        waits.sort();
        waits[2]
    }
}
