//! A processor (Go: P): the right to run tasks, with everything that moves along when the right
//! moves.
//!
//! The ring, `runnext`, the timers, the count of turns and the metrics belong to the processor and
//! not to a thread, so taking the processor from a stuck thread loses nothing. Fields marked
//! "Owner" are written only by the machine that holds the processor and is in scheduler code. They
//! are atomics, because metrics read them, with relaxed accesses, which cost no more than plain
//! ones.

pub(crate) mod busy_time;
pub(crate) mod local_queue;
pub(crate) mod runnext;
pub(crate) mod spill;

use std::sync::{Mutex, MutexGuard};

use crate::metrics::{Counter, HistogramSettings, Histograms};
use crate::sched::state::machine::Machine;
use crate::sched::state::processor::busy_time::BusyTime;
use crate::sched::state::processor::local_queue::LocalQueue;
use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sched::state::processor::runnext::RunNext;
use crate::sched::state::processor::spill::Spill;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use crate::sync::{Apart, Arc};
use crate::task::Runnable;
use crate::time::timers::Timers;

/// At most this many polls in a row come out of `runnext`, so that two tasks that wake each other
/// don't starve the ring. 1, 3, 16 and no limit measured the same; 3 is tokio's.
const RUNNEXT_STREAK: u32 = 3;

/// Rounds of nothing but yields before the processor looks at the network, which costs a system
/// call. A power of two.
const YIELD_ROUNDS: u32 = 4;

/// The value of `yields` that makes the next turn look at the network.
const ENOUGH_YIELDS: u32 = 1 << 31;

#[repr(align(128))]
pub(crate) struct Processor {
    /// This and `runnext` are apart, because thieves read them while the owner writes the words
    /// below on every turn.
    pub(crate) queue: Apart<LocalQueue<Runnable>>,
    pub(crate) runnext: Apart<RunNext<Runnable>>,
    /// Used on the current-thread flavour only.
    pub(crate) spill: Spill,
    pub(crate) timers: Timers,
    /// Owner. Counts the turns of the scheduling loop, whichever machine made them.
    tick: AtomicU32,
    /// Owner, and sysmon, which brings it forward: the turn of the next look. If the owner
    /// overwrites sysmon's value, sysmon's next look repeats it.
    next_look: AtomicU32,
    /// sysmon asks for a look at everything. Set by sysmon, cleared by the owner.
    is_look_asked: AtomicBool,
    /// Owner. Yields since the last look at the network.
    yields: AtomicU32,
    /// Owner. Polls in a row that came out of `runnext`.
    streak: AtomicU32,
    /// Owner. The part of the global queue at which the next look begins.
    pub(in crate::sched) next_part: AtomicUsize,
    /// Owner. State of the random number generator that picks victims.
    random: AtomicU32,
    pub(crate) counters: Counters,
    /// Written by the machine that acquired this processor last, and by those that have lost it.
    pub(crate) histograms: Histograms,
    /// Written by the holder of the token, by the clock's
    /// [`running_ns`](crate::time::clock::Clock::running_ns).
    pub(crate) busy: BusyTime,
    /// The machine that acquired this processor last. sysmon asks that machine whether it still
    /// holds the processor. Only the acquiring machine and sysmon take the lock, for a moment, so
    /// the models need not see it.
    holder: Mutex<Option<Arc<Machine>>>,
}

/// Written by the owner, except where noted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    /// Polls of machines that have handed this processor off. Written by those machines.
    pub(crate) polls_without: Counter,
    pub(crate) steal_attempts: Counter,
    /// Attempts that found tasks.
    pub(crate) steals: Counter,
    pub(crate) stolen_tasks: Counter,
    /// Tasks that were queued here by the processor's own machine.
    pub(crate) local_schedules: Counter,
    pub(crate) parks: Counter,
    /// Parks with no poll since the park before.
    pub(crate) noops: Counter,
    /// How many polls there were at the last park.
    polls_at_park: Counter,
    pub(crate) overflows: Counter,
    /// Written by the taker, one at a time.
    pub(crate) taken_blocked: Counter,
    /// Written by the taker, one at a time.
    pub(crate) taken_computing: Counter,
}

impl Counters {
    pub(in crate::sched) fn count_park(&self) {
        self.parks.add(1);
        let polls = self.polls.get() - self.polls_at_park.get();
        self.polls_at_park.add(polls);
        self.noops.add(u64::from(polls == 0));
    }
}

impl Processor {
    pub(crate) fn new(index: usize, histograms: &HistogramSettings) -> Self {
        Processor {
            queue: Apart::new(LocalQueue::new()),
            runnext: Apart::new(RunNext::new()),
            spill: Spill::default(),
            timers: Timers::new(),
            tick: AtomicU32::new(0),
            next_look: AtomicU32::new(1),
            is_look_asked: AtomicBool::new(false),
            yields: AtomicU32::new(0),
            streak: AtomicU32::new(0),
            next_part: AtomicUsize::new(index),
            random: AtomicU32::new((index as u32 + 1).wrapping_mul(0x9e37_79b9) | 1),
            counters: Counters::default(),
            histograms: Histograms::new(histograms),
            busy: BusyTime::default(),
            holder: Mutex::new(None),
        }
    }

    /// The next task of this processor: from `runnext`, unless its streak is over, then from the
    /// ring.
    #[inline]
    pub(crate) fn pop(&self, proof: &OwnerProof) -> Option<Runnable> {
        let streak = self.streak.load(Relaxed);
        if streak < RUNNEXT_STREAK {
            if let Some(task) = self.runnext.take(proof) {
                self.streak.store(streak + 1, Relaxed);
                return Some(task);
            }
        }
        self.streak.store(0, Relaxed);
        self.queue.pop(proof).or_else(|| self.runnext.take(proof))
    }

    /// The task that was queued first. For the current-thread flavour, which has no `runnext`.
    #[inline]
    pub(crate) fn pop_oldest(&self, proof: &OwnerProof) -> Option<Runnable> {
        let spilled = || if self.spill.len() == 0 { None } else { self.spill.refill(&self.queue, proof) };
        self.queue.pop(proof).or_else(spilled)
    }

    /// Appends a task behind all that are queued here. For the current-thread flavour.
    #[inline]
    pub(crate) fn push_newest(&self, proof: &OwnerProof, task: Runnable) {
        if self.spill.len() > 0 {
            return self.spill.push(proof, task);
        }
        if let Err(task) = self.queue.push(proof, task) {
            self.spill.push(proof, task);
        }
    }

    /// Whether the running task was the last one to come out of `runnext` before one from the ring.
    #[inline]
    pub(crate) fn is_streak_over(&self, _: &OwnerProof) -> bool {
        self.streak.load(Relaxed) >= RUNNEXT_STREAK
    }

    /// Begins a turn. Returns whether timers, the network or the global queue come before the ring
    /// on this turn.
    #[inline]
    pub(crate) fn is_look_due(&self, _: &OwnerProof) -> bool {
        let tick = self.tick.load(Relaxed).wrapping_add(1);
        self.tick.store(tick, Relaxed);
        // Not `==`: sysmon may set `next_look` a turn late.
        tick.wrapping_sub(self.next_look.load(Relaxed)) as i32 >= 0
    }

    /// Called by sysmon when turns take long, and when there are too many processors: on its next
    /// turn the owner looks at timers, the network and the global queue, instead of after a number
    /// of turns.
    pub(crate) fn ask_for_look(&self) {
        self.is_look_asked.store(true, Relaxed);
        self.next_look.store(self.tick.load(Relaxed), Relaxed);
    }

    /// Whether sysmon has asked for a look at everything. Clears the request.
    pub(crate) fn take_look_asked(&self, _: &OwnerProof) -> bool {
        let is_asked = self.is_look_asked.load(Relaxed);
        if is_asked {
            self.is_look_asked.store(false, Relaxed);
        }
        is_asked
    }

    /// Counts a task that has yielded and is queued again. A few tasks that do nothing but yield
    /// wait for something that only the network or a timer can bring, so after some rounds of them
    /// the next turn looks there. With many such tasks the regular looks come first.
    #[inline]
    pub(crate) fn note_yield(&self, proof: &OwnerProof) {
        let yields = self.yields.load(Relaxed).wrapping_add(1);
        self.yields.store(yields, Relaxed);
        // That many rounds of any number of tasks are a multiple of `YIELD_ROUNDS` yields, so the
        // length of the ring is not read at every yield.
        if yields & (YIELD_ROUNDS - 1) == 0 && (yields / YIELD_ROUNDS) as usize >= self.queue.depth(proof) {
            self.yields.store(ENOUGH_YIELDS, Relaxed);
            self.next_look.store(self.tick.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    /// Whether tasks have yielded for long enough to look at the network. Starts to count anew.
    pub(crate) fn is_yielding_only(&self, _: &OwnerProof) -> bool {
        let is_due = self.yields.load(Relaxed) >= ENOUGH_YIELDS;
        self.yields.store(0, Relaxed);
        is_due
    }

    /// Computes the turn of the next look: the next multiple of any of the intervals. Not called at
    /// every turn, because it costs a division for each interval.
    pub(crate) fn schedule_look<const N: usize>(&self, _: &OwnerProof, intervals: [u32; N]) {
        let tick = self.tick.load(Relaxed);
        let next = intervals.into_iter().map(|interval| tick.wrapping_add(interval - tick % interval));
        let next = next.min_by_key(|next| next.wrapping_sub(tick)).unwrap_or(tick.wrapping_add(1));
        self.next_look.store(next, Relaxed);
    }

    /// A machine has acquired the token.
    pub(crate) fn set_holder(&self, machine: &Arc<Machine>) {
        let mut holder = self.lock_holder();
        if !holder.as_ref().is_some_and(|holder| Arc::ptr_eq(holder, machine)) {
            *holder = Some(machine.clone());
        }
    }

    /// The machine that acquired the processor last. It may have lost or released the processor
    /// since.
    pub(crate) fn holder(&self) -> Option<Arc<Machine>> {
        self.lock_holder().clone()
    }

    fn lock_holder(&self) -> MutexGuard<'_, Option<Arc<Machine>>> {
        self.holder.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The machine releases the processor for lack of work. A processor that has polled nothing yet
    /// is in its first park, which metrics count from the beginning.
    pub(crate) fn park(&self, now: u64) {
        self.busy.end(now);
        if self.counters.polls.get() > 0 {
            self.counters.count_park();
        }
    }

    pub(crate) fn ticks(&self) -> u32 {
        self.tick.load(Relaxed)
    }

    /// A pseudo-random number (xorshift32: period 2^32 - 1, three shifts).
    pub(crate) fn random(&self, _: &OwnerProof) -> u32 {
        let mut x = self.random.load(Relaxed);
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.random.store(x, Relaxed);
        x
    }

    /// Whether a task is queued here, `runnext` included.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || !self.runnext.is_empty() || self.spill.len() > 0
    }

    /// Whether the ring would still hold a task for a thief after the owner has taken its next
    /// task.
    #[inline]
    pub(crate) fn has_work_to_share(&self, proof: &OwnerProof) -> bool {
        match self.queue.depth(proof) {
            0 => false,
            1 => !self.runnext.is_empty(),
            _ => true,
        }
    }

    /// How many tasks are queued here, `runnext` included.
    pub(crate) fn depth(&self) -> usize {
        self.queue.len() + usize::from(!self.runnext.is_empty()) + self.spill.len()
    }
}
