//! Which machine holds a processor. Only this file makes tokens.
//!
//! A poll can't be interrupted, so a processor is taken from the *machine* that is stuck in a poll.
//! The machine may come back at any moment. It must find out that the queue is no longer its own
//! before it touches the queue. The check must cost nothing, because the machine makes it at every
//! poll and every wake.
//!
//! The protocol, both sides. sched/README.md §3 proves it. M1 to M5 and T1 to T4 are the names of
//! the steps, there and in the code below.
//!
//! ```text
//! machine:  M1 region = Scheduler    │  taker:  T1 claim: None → Requested   (CAS)
//!           M2 light fence           │          T2 heavy fence
//!           M3 claim == None?        │          T3 region, processor, polls as in `seen`?
//!             yes: go on             │            no:  claim: Requested → None (CAS), give up
//!             no:  M4 Requested →    │            yes: T4 claim: Requested → Taken (CAS);
//!                  None (CAS), go on │                 the processor is the taker's
//!                  M5 or find Taken: │
//!                  it has none now   │
//! ```
//!
//! Rejected: a CAS on `region` at every entry (+5 ns each), and a decision in `region` itself,
//! which the machine's plain store would overwrite.
//!
//! | field       | written by                                   | read by   |
//! |-------------|----------------------------------------------|-----------|
//! | `region`    | the machine, plain stores                    | takers    |
//! | `polls`     | the machine, plain stores, grows             | takers    |
//! | `processor` | the machine, in scheduler code, unless `Taken` | takers  |
//! | `claim`     | both, by CAS; `Taken → None` the machine     | both      |
//! | `cause`, `runnable`, `at` | the taker, before it writes `Taken` | the machine, after `Taken` |
//!
//! Orderings: the machine stores `region` with Release when it leaves scheduler code, and the taker
//! loads it with Acquire, so the taker sees everything that the machine did to the processor.
//! `Requested → Taken` is a Release and the machine's load of `Taken` an Acquire, so the machine
//! sees the taker's description of the loss. All else is decided by the CAS on `claim`.

use std::ops::Range;
use std::time::Duration;

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};
use crate::sys::membarrier;
use crate::task::StuckBy;

/// The right to run tasks as processor `index`. It exists once per processor: held by a machine, in
/// the idle list, or on its way between them. While a machine holds it, there is no value of this
/// type: [`Ownership::acquire`] consumes the value, and [`Ownership::release`] or
/// [`Ownership::take`] makes it again.
#[derive(Debug)]
#[must_use = "a lost token is a lost processor"]
pub(crate) struct ProcessorToken {
    index: usize,
}

impl ProcessorToken {
    /// Makes the tokens of new processors. Each index may be given once.
    pub(in crate::sched) fn mint(indices: Range<usize>) -> Vec<ProcessorToken> {
        indices.map(|index| ProcessorToken { index }).collect()
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }
}

/// Where a machine is. Go keeps this as the status of the P.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Region {
    /// In scheduler code. The machine may touch the owner's side of its processor.
    Scheduler = 0,
    /// Inside a poll: user code.
    Poll = 1,
    /// Inside a blocking section: user code. As after Go's `entersyscall`.
    Blocking = 2,
}

impl Region {
    /// A table, because the machine calls this at every entry, and a `match` takes twice as many
    /// instructions.
    #[inline]
    fn from_u8(value: u8) -> Region {
        const REGIONS: [Region; 4] = [Region::Scheduler, Region::Poll, Region::Blocking, Region::Blocking];
        REGIONS[usize::from(value & 3)]
    }
}

/// No taker wants the processor.
const NONE: u8 = 0;
/// A taker checks whether it may take the processor. The machine may refuse.
const REQUESTED: u8 = 1;
/// The processor is gone. The claim stays `TAKEN` until the machine has noticed.
const TAKEN: u8 = 2;

/// The state of one machine in the protocol. By default it is in scheduler code and has no processor.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    region: AtomicU8,
    claim: AtomicU8,
    cause: AtomicU8,
    /// [`Loss::runnable`] in nanoseconds.
    runnable: AtomicU64,
    /// [`Loss::at`].
    at: AtomicU64,
    /// Index + 1 of the processor; 0: none.
    processor: AtomicUsize,
    /// Counts polls, and in the lower [`SECTION_BITS`] the beginnings and ends of blocking sections
    /// inside a poll. So a taker can't mistake poll k for poll k+1, and sysmon sees that a poll
    /// goes on although it has had sections. When the lower bits overflow, the poll looks like a
    /// new one, which is harmless: a new poll may begin at any time. When the upper bits overflow,
    /// after 2^40 polls, no taker remembers the first poll.
    polls: AtomicU64,
}

/// Enough bits for more sections than one poll can have in a `blocking_threshold`.
pub(in crate::sched) const SECTION_BITS: u32 = 24;

/// A taker's description of the processor that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) cause: StuckBy,
    /// How long the machine's thread had been runnable by that moment.
    pub(crate) runnable: Duration,
    /// The moment of the take, in the nanoseconds of
    /// [`Clock::running_ns`](crate::time::clock::Clock::running_ns).
    pub(crate) at: u64,
}

/// Where a taker saw the machine when it decided to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) processor: usize,
    pub(crate) region: Region,
    pub(crate) polls: u64,
}

impl Sighting {
    /// The number of the poll. It stays the same while sections begin and end in the poll.
    pub(crate) fn turn(self) -> u64 {
        self.polls >> SECTION_BITS
    }

    /// Whether both sightings are of the same poll with the same processor.
    pub(crate) fn is_same_turn(self, other: Sighting) -> bool {
        self.turn() == other.turn() && self.processor == other.processor
    }
}

impl Ownership {
    // ---- the machine's side: called by its own thread only ----

    /// Acquires a processor. The machine is in scheduler code and has none.
    #[doc(alias = "acquirep")]
    pub(crate) fn acquire(&self, token: ProcessorToken) {
        debug_assert_eq!(self.region(), Region::Scheduler);
        debug_assert_eq!(self.processor.load(Relaxed), 0, "a machine holds one processor at most");
        self.processor.store(token.index + 1, Relaxed);
    }

    /// Releases the processor. The machine is in scheduler code.
    #[doc(alias = "releasep")]
    pub(crate) fn release(&self) -> Option<ProcessorToken> {
        debug_assert_eq!(self.region(), Region::Scheduler);
        let index = self.holds()?;
        self.processor.store(0, Relaxed);
        Some(ProcessorToken { index })
    }

    /// The processor that the machine holds. Valid in scheduler code.
    #[inline]
    pub(crate) fn holds(&self) -> Option<usize> {
        self.processor.load(Relaxed).checked_sub(1)
    }

    /// Starts a poll: from here on the processor may be taken.
    #[inline]
    pub(crate) fn begin(&self, region: Region) {
        let last = self.polls.load(Relaxed) | ((1 << SECTION_BITS) - 1);
        // Release, so that a reader of the turn finds which task is polled in it
        // (`machine::running`).
        self.polls.store(last.wrapping_add(1), Release);
        self.leave(region);
    }

    /// Starts a blocking section inside a poll, or goes on with the poll after a section. From here
    /// on the processor may be taken, but only by a taker that has seen the machine here.
    #[doc(alias = "entersyscall")]
    pub(crate) fn begin_section(&self, region: Region) {
        self.polls.store(self.polls.load(Relaxed).wrapping_add(1), Relaxed);
        self.leave(region);
    }

    /// Enters scheduler code. Afterwards the processor can't be taken until `leave`. Returns where
    /// the machine was. If it was in scheduler code already, the outer entry has answered the
    /// takers, and this one does nothing. The second value is the loss of the processor, if it was
    /// taken since the machine was last here.
    #[doc(alias = "exitsyscall")]
    #[inline]
    pub(crate) fn enter(&self) -> (Region, Option<Loss>) {
        let before = self.region();
        if before == Region::Scheduler {
            return (before, None);
        }
        // M1. Release, so that a reader that finds the poll over sees what the poll did
        // (`lost`). The protocol itself needs no order here.
        self.region.store(Region::Scheduler as u8, Release);
        membarrier::light(); // M2
        // M3, and M4 and M5 if a taker has asked.
        let loss = if self.claim.load(Relaxed) == NONE { None } else { self.answer_claim() };
        (before, loss)
    }

    /// Whether a taker is taking the processor, or has taken it.
    #[inline]
    pub(crate) fn is_claimed(&self) -> bool {
        self.claim.load(Relaxed) != NONE
    }

    /// Goes back to where the machine was before `enter`.
    #[inline]
    pub(crate) fn leave(&self, to: Region) {
        self.region.store(to as u8, Release);
    }

    #[cold]
    fn answer_claim(&self) -> Option<Loss> {
        // M4: refuses a taker that has asked.
        match self.claim.compare_exchange(REQUESTED, NONE, AcqRel, Acquire) {
            // Requested => None: the taker's own CAS will fail.
            // Or the taker has given up.
            Ok(_) | Err(NONE) => None,
            // M5. Taken => None: the taker is done with this machine, and no other thread writes.
            Err(_) => {
                let loss = self.loss();
                self.processor.store(0, Relaxed);
                self.claim.store(NONE, Release);
                Some(loss)
            }
        }
    }

    fn loss(&self) -> Loss {
        let is_computing = self.cause.load(Relaxed) != 0;
        Loss {
            cause: if is_computing { StuckBy::Computing } else { StuckBy::Blocking },
            runnable: Duration::from_nanos(self.runnable.load(Relaxed)),
            at: self.at.load(Relaxed),
        }
    }

    /// Where the machine is, for its own thread.
    #[inline]
    pub(crate) fn region(&self) -> Region {
        Region::from_u8(self.region.load(Relaxed))
    }

    /// The count `polls`, for the machine's own thread. It grows when a blocking section in the
    /// poll begins or ends. `None` in scheduler code and in blocking sections.
    #[inline]
    pub(crate) fn current_poll(&self) -> Option<u64> {
        (self.region() == Region::Poll).then(|| self.polls.load(Relaxed))
    }

    // ---- the taker's side: sysmon ----

    /// Where the machine seems to be. `None`: it has no processor that could be taken.
    pub(crate) fn look(&self) -> Option<Sighting> {
        let region = Region::from_u8(self.region.load(Acquire));
        if region == Region::Scheduler || self.claim.load(Relaxed) == TAKEN {
            return None;
        }
        let processor = self.processor.load(Relaxed).checked_sub(1)?;
        Some(Sighting { processor, region, polls: self.polls.load(Relaxed) })
    }

    /// Whether the machine holds no processor, or has lost it and not noticed yet. `true` may be
    /// out of date, unless the caller has made a heavy fence and the machine acquires no processor
    /// any more.
    pub(crate) fn has_no_processor(&self) -> bool {
        self.holds().is_none() || self.claim.load(Relaxed) == TAKEN
    }

    #[cfg(all(test, loom))]
    pub(in crate::sched) fn polls(&self) -> u64 {
        self.polls.load(Relaxed)
    }

    /// How many polls the machine has begun.
    pub(crate) fn turn(&self) -> u64 {
        self.polls.load(Relaxed) >> SECTION_BITS
    }

    /// The number of the machine's next poll.
    pub(crate) fn next_turn(&self) -> u64 {
        self.turn() + 1
    }

    /// Whether the machine is in this turn, and outside of scheduler code, with a processor or
    /// without.
    pub(crate) fn is_in_turn(&self, turn: u64) -> bool {
        Region::from_u8(self.region.load(Acquire)) != Region::Scheduler
            && self.polls.load(Acquire) >> SECTION_BITS == turn
    }

    /// Takes the processor. `None`: the machine has come back, or is in another poll or section by now
    /// than in `seen`.
    #[doc(alias = "retake")]
    #[must_use = "a lost token is a lost processor"]
    pub(crate) fn take(&self, seen: Sighting, loss: Loss) -> Option<ProcessorToken> {
        // T1. None => Requested. Else Taken: the machine has not noticed an earlier loss, so it has
        // no processor.
        if self.claim.compare_exchange(NONE, REQUESTED, AcqRel, Relaxed).is_err() {
            return None;
        }
        // T2 and T3.
        if membarrier::heavy().is_err() || !self.still(seen) {
            // T3'. Requested => None, unless the machine has already done that.
            let _ = self.claim.compare_exchange(REQUESTED, NONE, AcqRel, Relaxed);
            return None;
        }
        self.cause.store((loss.cause == StuckBy::Computing) as u8, Relaxed);
        self.runnable.store(loss.runnable.as_nanos() as u64, Relaxed);
        self.at.store(loss.at, Relaxed);
        // T4. Requested => Taken, unless the machine has refused.
        self.claim.compare_exchange(REQUESTED, TAKEN, AcqRel, Relaxed).ok()?;
        Some(ProcessorToken { index: seen.processor })
    }

    fn still(&self, seen: Sighting) -> bool {
        let region = Region::from_u8(self.region.load(Acquire));
        region == seen.region
            && self.processor.load(Relaxed) == seen.processor + 1
            && self.polls.load(Relaxed) == seen.polls
    }
}
