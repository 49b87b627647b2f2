//! Who holds a processor: the only file that moves one.
//!
//! A poll can't be interrupted, so a processor is taken from the *machine* that is stuck in a poll. The machine may come
//! back at any moment, and it must find out, before it touches its old queue, that the queue is no longer its own; yet
//! asking must cost nothing, because it asks at every poll and every wake.
//!
//! The rule, both sides (README, "Taking a processor"):
//!
//! ```text
//! machine:  region = Sched           │  taker:  claim: None → Requested      (CAS)
//!           light fence              │          heavy fence
//!           claim == None?           │          region == Poll, same P, same poll?
//!             yes: go on             │            no:  claim: Requested → None (CAS), give up
//!             no:  Requested → None  │            yes: claim: Requested → Taken (CAS), the P is the taker's
//!                  (CAS) and go on,  │
//!                  or find Taken     │
//! ```
//!
//! Rejected: a CAS on `region` at every entry (+5 ns each), and deciding in `region` itself (the machine's plain store
//! would overwrite the decision).
//!
//! | field       | who writes                                   | who reads |
//! |-------------|----------------------------------------------|-----------|
//! | `region`    | the machine, plain stores                    | takers    |
//! | `polls`     | the machine, plain stores, grows             | takers    |
//! | `processor` | the machine, inside `Sched`, with no `Taken` | takers    |
//! | `computing` | sysmon, and the machine, which clears it     | the machine |
//! | `claim`     | both, by CAS; `Taken → None` the machine     | both      |
//! | `cause`, `runnable`, `at` | the taker, before `Requested → Taken` | the machine, after it saw `Taken` |
//!
//! Orderings: `region` is stored with Release when the machine leaves `Sched` and loaded with Acquire by the taker, so
//! whatever the machine did to the processor is visible to whoever takes it. `Requested → Taken` is a Release, the
//! machine's look at it an Acquire, for what the taker says about the loss. All else is decided by the CAS on `claim`.

use std::time::Duration;

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};
use crate::sys::membarrier;
use crate::task::StuckBy;

/// The right to run tasks as processor `index`. Exactly one exists per processor: in a machine's hands, in the idle
/// list, or on its way between them.
#[derive(Debug)]
#[must_use = "a lost token is a lost processor"]
pub(crate) struct ProcessorToken {
    index: usize,
}

impl ProcessorToken {
    /// Makes the tokens of a new scheduler.
    pub(in crate::sched) fn mint(count: usize) -> Vec<ProcessorToken> {
        (0..count).map(|index| ProcessorToken { index }).collect()
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }
}

/// Where a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Region {
    /// In scheduler code. It may touch the owner's side of its processor.
    Scheduler = 0,
    /// Inside a poll: user code.
    Poll = 1,
    /// Inside a declared blocking section: user code.
    Blocking = 2,
    /// Inside one that will block for sure: its processor is for whoever needs it, at once.
    Offered = 3,
}

impl Region {
    /// By a table: the machine asks at every entry, and a `match` is twice as many instructions.
    #[inline]
    fn from_u8(value: u8) -> Region {
        const REGIONS: [Region; 4] = [Region::Scheduler, Region::Poll, Region::Blocking, Region::Offered];
        REGIONS[usize::from(value & 3)]
    }

    pub(crate) fn is_blocking(self) -> bool {
        matches!(self, Region::Blocking | Region::Offered)
    }
}

/// Nobody wants the processor.
const NONE: u8 = 0;
/// A taker looks whether it may have it. The machine may refuse.
const REQUESTED: u8 = 1;
/// The processor is gone. Stays until the machine has noticed.
const TAKEN: u8 = 2;

/// One machine's side of the protocol.
#[derive(Debug)]
pub(crate) struct Ownership {
    region: AtomicU8,
    claim: AtomicU8,
    cause: AtomicU8,
    /// [`Loss::runnable`] in nanoseconds.
    runnable: AtomicU64,
    /// [`Loss::at`].
    at: AtomicU64,
    /// The turn in which sysmon has seen the machine compute for too long without being able to take its processor, plus 1; 0:
    /// none that the machine has not seen.
    computing: AtomicU64,
    /// Index + 1 of the processor; 0: none.
    processor: AtomicUsize,
    /// Counts polls, and in the lower [`SECTION_BITS`] the beginnings and ends of blocking sections inside of a poll: so a
    /// taker can't mistake poll k for poll k+1, and sysmon can tell that a poll goes on although it has had sections. When the
    /// lower bits overflow a poll looks like a new one, which the machine may always begin; when the upper ones do, after
    /// 2^40 polls, nobody remembers the first.
    polls: AtomicU64,
}

/// So many sections a poll must not be able to hide behind: more than it can have in a `blocking_threshold`.
const SECTION_BITS: u32 = 24;

/// What a taker says about the processor that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) cause: StuckBy,
    /// How long the machine's thread had been runnable by that moment.
    pub(crate) runnable: Duration,
    /// The moment, in the nanoseconds of [`Clock::running_ns`](crate::time::clock::Clock::running_ns).
    pub(crate) at: u64,
}

/// What a taker saw when it decided to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) processor: usize,
    pub(crate) region: Region,
    pub(crate) polls: u64,
}

impl Sighting {
    /// The number of the poll, which stays the same while sections begin and end in it.
    pub(crate) fn turn(self) -> u64 {
        self.polls >> SECTION_BITS
    }

    /// Whether the machine was in the same poll with the same processor then.
    pub(crate) fn is_same_turn(self, other: Sighting) -> bool {
        self.turn() == other.turn() && self.processor == other.processor
    }
}

#[derive(Debug)]
#[must_use]
pub(crate) enum ClaimResult {
    Taken(ProcessorToken),
    /// The machine came back, or is elsewhere by now.
    Refused,
}

/// What a machine finds when it enters scheduler code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Entry {
    /// Nothing was taken. (There may be no processor to take.)
    Kept,
    /// The processor was taken since the machine was last here.
    Lost(Loss),
}

impl Ownership {
    pub(crate) fn new() -> Self {
        Ownership {
            region: AtomicU8::new(Region::Scheduler as u8),
            claim: AtomicU8::new(NONE),
            cause: AtomicU8::new(0),
            runnable: AtomicU64::new(0),
            at: AtomicU64::new(0),
            computing: AtomicU64::new(0),
            processor: AtomicUsize::new(0),
            polls: AtomicU64::new(0),
        }
    }

    // ---- the machine's side: called by its own thread only ----

    /// Takes possession. The machine is in `Sched` and has no processor.
    pub(crate) fn acquire(&self, token: ProcessorToken) {
        debug_assert_eq!(self.region(), Region::Scheduler);
        debug_assert_eq!(self.processor.load(Relaxed), 0, "a machine holds one processor at most");
        self.processor.store(token.index + 1, Relaxed);
    }

    /// Gives the processor up. The machine is in `Sched`.
    pub(crate) fn release(&self) -> Option<ProcessorToken> {
        debug_assert_eq!(self.region(), Region::Scheduler);
        let index = self.holds()?;
        self.processor.store(0, Relaxed);
        Some(ProcessorToken { index })
    }

    /// The processor that the machine holds; valid inside `Sched`.
    #[inline]
    pub(crate) fn holds(&self) -> Option<usize> {
        self.processor.load(Relaxed).checked_sub(1)
    }

    /// Starts a poll: from here on the processor may be taken.
    #[inline]
    pub(crate) fn begin(&self, region: Region) {
        let before = self.polls.load(Relaxed) | ((1 << SECTION_BITS) - 1);
        self.polls.store(before.wrapping_add(1), Relaxed);
        self.leave(region);
    }

    /// Starts a blocking section inside of a poll, or goes on with the poll after one: the processor may be taken, by who has
    /// seen the machine since.
    pub(crate) fn begin_section(&self, region: Region) {
        self.polls.store(self.polls.load(Relaxed).wrapping_add(1), Relaxed);
        self.leave(region);
    }

    /// Enters scheduler code; afterwards the processor can't be taken until `leave`. Returns where the machine was. If that
    /// was scheduler code already, its own entry has answered whoever might have taken the processor.
    #[inline]
    pub(crate) fn enter(&self) -> (Region, Entry) {
        let before = self.region();
        if before == Region::Scheduler {
            return (before, Entry::Kept);
        }
        self.region.store(Region::Scheduler as u8, Relaxed);
        membarrier::light();
        let entry = if self.claim.load(Relaxed) == NONE { Entry::Kept } else { self.answer_claim() };
        (before, entry)
    }

    /// Whether a taker is at work, or done.
    #[inline]
    pub(crate) fn is_claimed(&self) -> bool {
        self.claim.load(Relaxed) != NONE
    }

    /// Whether sysmon has something to say about this poll, or a former one.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        self.computing.load(Relaxed) != 0
    }

    /// Whether the poll that is about to end was seen to compute for too long.
    pub(crate) fn take_mark(&self) -> bool {
        self.computing.swap(0, Relaxed) == self.turn() + 1
    }

    /// Goes back to where the machine was before `enter`.
    #[inline]
    pub(crate) fn leave(&self, to: Region) {
        self.region.store(to as u8, Release);
    }

    #[cold]
    fn answer_claim(&self) -> Entry {
        match self.claim.compare_exchange(REQUESTED, NONE, AcqRel, Acquire) {
            // Requested => None: the taker's own CAS will fail.
            Ok(_) => Entry::Kept,
            // The taker has given up meanwhile.
            Err(NONE) => Entry::Kept,
            // Taken => None: the taker is done with this machine, nobody else writes.
            Err(_) => {
                let loss = self.loss();
                self.processor.store(0, Relaxed);
                self.claim.store(NONE, Release);
                Entry::Lost(loss)
            }
        }
    }

    fn loss(&self) -> Loss {
        let is_burning = self.cause.load(Relaxed) != 0;
        Loss {
            cause: if is_burning { StuckBy::Computing } else { StuckBy::Blocking },
            runnable: Duration::from_nanos(self.runnable.load(Relaxed)),
            at: self.at.load(Relaxed),
        }
    }

    #[inline]
    fn region(&self) -> Region {
        Region::from_u8(self.region.load(Relaxed))
    }

    // ---- the taker's side: one taker at a time ----

    /// Where the machine seems to be. `None`: it has no processor that could be taken. One that another taker is about to
    /// take, or to leave, could: who wants it asks after that one, and gets a definite answer.
    pub(crate) fn look(&self) -> Option<Sighting> {
        let region = Region::from_u8(self.region.load(Acquire));
        if region == Region::Scheduler || self.claim.load(Relaxed) == TAKEN {
            return None;
        }
        let processor = self.processor.load(Relaxed).checked_sub(1)?;
        Some(Sighting { processor, region, polls: self.polls.load(Relaxed) })
    }

    /// Whether the machine holds no processor, or has lost it and not noticed yet. True may be old news, unless the
    /// caller has made a heavy fence and the machine is known to acquire none.
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

    /// The machine computes for too long in this turn, but keeps its processor.
    pub(crate) fn mark(&self, seen: Sighting) {
        self.computing.store(seen.turn() + 1, Relaxed);
    }

    /// Takes the processor, if the machine is still in the very poll that was seen.
    pub(crate) fn take(&self, seen: Sighting, loss: Loss) -> ClaimResult {
        // None => Requested. Taken: an earlier loss was not noticed yet, there is nothing to take.
        if self.claim.compare_exchange(NONE, REQUESTED, AcqRel, Relaxed).is_err() {
            return ClaimResult::Refused;
        }
        if membarrier::heavy().is_err() || !self.still(seen) {
            // Requested => None, unless the machine has done it.
            let _ = self.claim.compare_exchange(REQUESTED, NONE, AcqRel, Relaxed);
            return ClaimResult::Refused;
        }
        self.cause.store((loss.cause == StuckBy::Computing) as u8, Relaxed);
        self.runnable.store(loss.runnable.as_nanos() as u64, Relaxed);
        self.at.store(loss.at, Relaxed);
        // Requested => Taken, unless the machine has refused.
        match self.claim.compare_exchange(REQUESTED, TAKEN, AcqRel, Relaxed) {
            Ok(_) => ClaimResult::Taken(ProcessorToken { index: seen.processor }),
            Err(_) => ClaimResult::Refused,
        }
    }

    fn still(&self, seen: Sighting) -> bool {
        let region = Region::from_u8(self.region.load(Acquire));
        region == seen.region
            && self.processor.load(Relaxed) == seen.processor + 1
            && self.polls.load(Relaxed) == seen.polls
    }
}
