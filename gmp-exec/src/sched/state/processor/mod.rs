//! A processor: the right to run tasks, with everything that moves along when the right moves.
//!
//! Its ring, its `runnext`, its timers, its place in the round of fairness ticks and its counters belong to the
//! processor and not to a thread, so that taking it from a stuck thread loses nothing. Fields marked "owner" are written
//! only by the machine that holds the processor and is inside `Sched`; they are atomics with relaxed, unlocked accesses,
//! so that metrics may read them, and because that costs nothing.

pub(crate) mod local_queue;
pub(crate) mod owner_proof;
pub(crate) mod runnext;
pub(crate) mod spill;

use std::sync::{Mutex, MutexGuard};

use crate::metrics::Counter;
use crate::sched::state::machine::Machine;
use crate::sched::state::processor::local_queue::{LocalQueue, Push};
use crate::sched::state::processor::owner_proof::OwnerProof;
use crate::sched::state::processor::runnext::RunNext;
use crate::sched::state::processor::spill::Spill;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use crate::task::Runnable;
use crate::time::timers::Timers;

/// At most this many polls in a row come out of `runnext`, so that a pair that takes turns can't keep the ring waiting.
/// 1, 3, 16 and no limit measured the same; 3 is tokio's.
const RUNNEXT_STREAK: u32 = 3;

/// So often in a row tasks may yield to each other before the network has a turn: a look is a system call. A power of two.
const YIELD_ROUNDS: u32 = 4;

/// What `yields` is set to when the next turn shall look.
const ENOUGH_YIELDS: u32 = 1 << 31;

#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Processor {
    pub(crate) queue: LocalQueue<Runnable>,
    pub(crate) runnext: RunNext<Runnable>,
    /// Of the current-thread flavour.
    spill: Spill,
    pub(crate) timers: Timers,
    /// Owner. Counts turns of the scheduling loop, inherited ones too.
    tick: AtomicU32,
    /// The turn on which to look around next. Owner; sysmon brings it forward. If the owner overwrites that, sysmon's next look
    /// repeats it.
    next_look: AtomicU32,
    /// sysmon has asked for a look at everything. Set by sysmon, cleared by the owner.
    is_look_asked: AtomicBool,
    /// Owner. Yields since the last look at the network.
    yields: AtomicU32,
    /// Owner. How many polls in a row came out of `runnext`.
    streak: AtomicU32,
    /// Owner. State of the generator that picks where to steal.
    random: AtomicU32,
    pub(crate) counters: Counters,
    /// Whoever holds the token. When a machine came for this processor, in the clock's
    /// [`running_ns`](crate::time::clock::Clock::running_ns); 0 while it has none.
    busy_since: AtomicU64,
    /// The machine that came for this processor last. sysmon asks it whether it still has it. Locked by who comes and by sysmon,
    /// for a moment: the models need not see it.
    holder: Mutex<Option<Arc<Machine>>>,
}

/// Owner, unless said otherwise.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) steal_attempts: Counter,
    pub(crate) steals: Counter,
    pub(crate) parks: Counter,
    pub(crate) overflows: Counter,
    /// Nanoseconds between coming for the processor and giving it up.
    pub(crate) busy: Counter,
    /// The taker, one at a time.
    pub(crate) taken_blocked: Counter,
    /// The taker, one at a time.
    pub(crate) taken_computing: Counter,
}

impl Processor {
    pub(crate) fn new(index: usize) -> Self {
        Processor {
            queue: LocalQueue::new(),
            runnext: RunNext::new(),
            spill: Spill::new(),
            timers: Timers::new(),
            tick: AtomicU32::new(0),
            next_look: AtomicU32::new(1),
            is_look_asked: AtomicBool::new(false),
            yields: AtomicU32::new(0),
            streak: AtomicU32::new(0),
            random: AtomicU32::new((index as u32 + 1).wrapping_mul(0x9e37_79b9) | 1),
            counters: Counters::default(),
            busy_since: AtomicU64::new(0),
            holder: Mutex::new(None),
        }
    }

    /// The next task of this processor's own: `runnext`, unless it had its share, then the ring.
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

    /// The task that was queued first. On the current-thread flavour, which has no `runnext`.
    #[inline]
    pub(crate) fn pop_oldest(&self, proof: &OwnerProof) -> Option<Runnable> {
        self.queue.pop(proof).or_else(|| self.pop_spilled(proof))
    }

    #[inline]
    fn pop_spilled(&self, proof: &OwnerProof) -> Option<Runnable> {
        if self.spill.len() == 0 { None } else { self.spill.refill(&self.queue, proof) }
    }

    /// Appends a task to all that are queued here. On the current-thread flavour.
    #[inline]
    pub(crate) fn push_newest(&self, proof: &OwnerProof, task: Runnable) {
        if self.spill.len() > 0 {
            return self.spill.push(proof, task);
        }
        if let Push::Full(task) = self.queue.push(proof, task) {
            self.spill.push(proof, task);
        }
    }

    /// Whether the task that runs is the last one that comes out of `runnext` before the ring has its turn.
    #[inline]
    pub(crate) fn is_streak_over(&self, _: &OwnerProof) -> bool {
        self.streak.load(Relaxed) >= RUNNEXT_STREAK
    }

    /// Makes `task` the next one. Returns whether another one was pushed to the ring for it.
    #[inline]
    pub(crate) fn push_next(&self, proof: &OwnerProof, task: Runnable) -> Option<Runnable> {
        self.runnext.replace(proof, task)
    }

    /// Appends a task to the ring. `Full`: thieves may be busy; the caller overflows.
    #[inline]
    pub(crate) fn push(&self, proof: &OwnerProof, task: Runnable) -> Push<Runnable> {
        self.queue.push(proof, task)
    }

    /// Begins a turn. Whether it is one of those on which something comes before the own queue.
    #[inline]
    pub(crate) fn is_look_due(&self, _: &OwnerProof) -> bool {
        let tick = self.tick.load(Relaxed).wrapping_add(1);
        self.tick.store(tick, Relaxed);
        // Not `==`: who brings the look forward may be a turn late.
        tick.wrapping_sub(self.next_look.load(Relaxed)) as i32 >= 0
    }

    /// The turns take long: at the next one the owner shall look at timers, the network and the global queue, which it would
    /// else do after a number of turns only. From sysmon.
    pub(crate) fn ask_for_look(&self) {
        self.is_look_asked.store(true, Relaxed);
        self.next_look.store(self.tick.load(Relaxed), Relaxed);
    }

    /// Whether a look at everything was asked for.
    pub(crate) fn take_look_asked(&self, _: &OwnerProof) -> bool {
        let is_asked = self.is_look_asked.load(Relaxed);
        if is_asked {
            self.is_look_asked.store(false, Relaxed);
        }
        is_asked
    }

    /// A task has yielded and is queued again. A few tasks that do nothing else wait for something that only the network
    /// or a timer can bring: after some rounds of them the next turn looks there. Many get round less often than the
    /// regular looks come.
    #[inline]
    pub(crate) fn note_yield(&self, proof: &OwnerProof) {
        let yields = self.yields.load(Relaxed).wrapping_add(1);
        self.yields.store(yields, Relaxed);
        // So many rounds of any number of tasks are a multiple of it: the length need not be read each time.
        if yields & (YIELD_ROUNDS - 1) == 0 && (yields / YIELD_ROUNDS) as usize >= self.queue.depth(proof) {
            self.yields.store(ENOUGH_YIELDS, Relaxed);
            self.next_look.store(self.tick.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    /// Whether tasks have yielded for long enough to look at the network; begins to count anew.
    pub(crate) fn is_yielding_only(&self, _: &OwnerProof) -> bool {
        let is_due = self.yields.load(Relaxed) >= ENOUGH_YIELDS;
        self.yields.store(0, Relaxed);
        is_due
    }

    /// Computes the next such turn: the next multiple of any of the intervals. A division each, so not at every turn.
    pub(crate) fn schedule_look<const N: usize>(&self, _: &OwnerProof, intervals: [u32; N]) {
        let tick = self.tick.load(Relaxed);
        let next = intervals.into_iter().map(|interval| tick.wrapping_add(interval - tick % interval));
        let next = next.min_by_key(|next| next.wrapping_sub(tick)).unwrap_or(tick.wrapping_add(1));
        self.next_look.store(next, Relaxed);
    }

    /// A machine has come for this processor, from the idle list or from another machine.
    pub(crate) fn begin_busy(&self, now: u64) {
        if self.busy_since.load(Relaxed) == 0 {
            self.busy_since.store(now.max(1), Relaxed);
        }
    }

    /// A machine has got the token.
    pub(crate) fn set_holder(&self, machine: &Arc<Machine>) {
        let mut holder = self.lock_holder();
        if !holder.as_ref().is_some_and(|holder| Arc::ptr_eq(holder, machine)) {
            *holder = Some(machine.clone());
        }
    }

    /// The machine that came last. It may have given the processor up since.
    pub(crate) fn holder(&self) -> Option<Arc<Machine>> {
        self.lock_holder().clone()
    }

    fn lock_holder(&self) -> MutexGuard<'_, Option<Arc<Machine>>> {
        self.holder.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The processor is given up for lack of work. As long as it has run nothing it was never needed: that is its first
    /// park, which metrics count from the beginning.
    pub(crate) fn park(&self, now: u64) {
        self.end_busy(now);
        if self.counters.polls.get() > 0 {
            self.counters.parks.add(1);
        }
    }

    /// The processor is given up, for lack of work or for good.
    pub(crate) fn end_busy(&self, now: u64) {
        let since = self.busy_since.load(Relaxed);
        if since != 0 {
            self.counters.busy.add(now.saturating_sub(since));
            self.busy_since.store(0, Relaxed);
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

    /// Whether a task waits for this processor's turn.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || !self.runnext.is_empty() || self.spill.len() > 0
    }

    /// Whether there would be a task in the ring for a thief after the owner has taken its next one.
    #[inline]
    pub(crate) fn has_work_to_share(&self, proof: &OwnerProof) -> bool {
        match self.queue.depth(proof) {
            0 => false,
            1 => !self.runnext.is_empty(),
            _ => true,
        }
    }

    /// Tasks waiting here, `runnext` included.
    pub(crate) fn depth(&self) -> usize {
        self.queue.len() + usize::from(!self.runnext.is_empty()) + self.spill.len()
    }
}
