//! The scheduler's data about a task, stored as async-task's metadata.
//!
//! A task is one allocation of async-task: its state word, this header, and the future or its
//! output. The header must tell where a woken task goes, so that the schedule function needn't
//! capture it. (A capturing schedule function costs a waker clone per schedule: 9 ns per yield,
//! measured.) So the schedule function is a zero-sized type, and the task's home is a field.
//!
//! | field      | written                               | read              |
//! |------------|---------------------------------------|-------------------|
//! | `home`     | never after `new`                     | by any thread     |
//! | `id`       | never after `new`                     | by any thread     |
//! | `location` | never after `new`                    | by any thread     |
//! | `flags`    | by any thread, `fetch_or`/`fetch_and` | by any thread     |
//! | `short_polls` | by the machine that polls the task | by that machine   |
//! | `listing`  | see [`Listing`]                       | as written        |
//! | `progress` | see [`Progress`](crate::task::cell::progress)     | by any thread     |
//! | `span`     | before the task exists                | by any thread     |
//! | `key`      | under the lock of the registry shard  | under that lock   |

use std::panic::Location;
use std::task::Waker;

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};
use crate::task::Id;
use crate::task::blocking::at_shutdown::AtShutdown;
use crate::task::blocking::place::Place;
use crate::task::cell::home::HomeRef;
use crate::task::cell::progress::Progress;
use crate::task::console::span::SpanId;
use crate::task::watch::names;

/// The scheduled form of a task. A linear token: it exists exactly while the task is scheduled, and
/// its owner must run it, queue it, or [`cancel`](crate::task::cancel) it.
pub(crate) type Runnable = async_task::Runnable<Header>;

/// Aligned so that an address has three bits to spare ([`Body`](crate::task::cell::body)).
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Header {
    pub(crate) home: HomeRef,
    pub(crate) id: Id,
    /// Where the task was spawned.
    pub(crate) location: &'static Location<'static>,
    flags: AtomicU16,
    /// Short polls in a row of a task that is marked as a hog.
    short_polls: AtomicU8,
    pub(in crate::task) listing: Listing,
    /// The task's key in the registry, if the registry lists it.
    pub(in crate::task) key: AtomicU32,
    pub(crate) progress: Progress,
    /// The span of the task, if it has one.
    pub(in crate::task) span: SpanId,
}

/// Whether the registry has an entry that points to this header, and whether the future has been
/// dropped.
///
/// A task that has waited is listed, and every change happens under the lock of its shard. A task
/// that has never waited ends without that lock, while an abort handle may be about to list it.
/// Both change this word by a read-modify-write, so the second one sees the change of the first
/// one. The entry is removed when the future is dropped, and no entry is made afterwards.
#[derive(Debug)]
pub(in crate::task) struct Listing(AtomicU8);

const UNLISTED: u8 = 0;
const LISTED: u8 = 1;
const FINISHED: u8 = 2;

impl Listing {
    /// The task is about to wait, and can't finish during this call. Called under the shard's lock.
    /// Returns whether an entry must be made.
    pub(in crate::task) fn wait(&self) -> bool {
        let is_new = self.0.load(Relaxed) == UNLISTED;
        self.0.store(LISTED, Relaxed);
        is_new
    }

    /// The answer may be old: an abort handle may list a task at any time.
    fn is_listed(&self) -> bool {
        self.0.load(Relaxed) == LISTED
    }

    /// An abort handle needs an entry. Called under the shard's lock.
    pub(in crate::task) fn list(&self) -> List {
        match self.0.compare_exchange(UNLISTED, LISTED, AcqRel, Acquire) {
            Ok(_) => List::New,
            Err(LISTED) => List::Already,
            Err(_) => List::Finished,
        }
    }

    /// The future of a task that has never waited has been dropped. Returns whether there is an
    /// entry to remove.
    #[must_use = "a listed task must leave the registry"]
    pub(in crate::task) fn finish(&self) -> bool {
        self.0.swap(FINISHED, AcqRel) == LISTED
    }

    /// The entry has been removed. Called under the shard's lock.
    pub(in crate::task) fn removed(&self) {
        self.0.store(FINISHED, Relaxed);
    }
}

#[must_use]
pub(in crate::task) enum List {
    /// There was no entry yet: the caller makes it.
    New,
    /// There is an entry.
    Already,
    /// The future has been dropped: there must be no entry.
    Finished,
}

/// The future is to be dropped instead of polled.
const ABORTED: u16 = 1;
/// The body is a closure that may block: it counts against `max_blocking_threads`.
const CLOSURE: u16 = 2;
/// A poll of this task held its thread by sleeping in the kernel.
const BLOCKS: u16 = 4;
/// A poll of this task held its thread by computing.
const COMPUTES: u16 = 8;
/// The closure runs even if the runtime ends before it has begun.
const FINISHES: u16 = 16;
/// The end of the runtime does not wait for the closure once it runs.
const ABANDONED: u16 = 32;

/// The task has got the permit that it needs (`sched::state::permits`): a closure's, or a hog's for
/// which it has waited.
const HAS_PERMIT: u16 = 64;
/// The wakers of the task are counted ([`observer`](crate::task::observer)). Does not change once the
/// task exists.
const OBSERVED: u16 = 128;

/// The runtime has hooks, or the task has a name: see `watch`.
const WATCHED: u16 = 256;

/// A dump waits for a trace of the next poll.
#[cfg(feature = "taskdump")]
const TRACED: u16 = 512;

/// A machine runs the closure.
const IN_PLACE: u16 = 1024;
/// A dump waits for the stacks of the next poll (`sites`).
const SITES: u16 = 2048;

/// After so many short polls in a row a task is no longer marked as a hog. More than one, because a
/// connection whose requests sometimes block has short polls in between, and when an unmarked task
/// blocks, other tasks wait until sysmon looks. Not many more, because each poll of a marked task
/// costs a change of threads.
const SHORT_POLLS: u8 = 8;

/// Why a poll occupied its thread for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StuckBy {
    /// The thread slept in the kernel.
    Blocking,
    /// The thread computed.
    Computing,
}

/// The tasks whose next poll is special. Nearly all tasks are not special.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// The poll runs a blocking closure.
    Closure,
    /// The task is marked as a hog: an earlier poll was stuck.
    Hog(StuckBy),
}

impl Header {
    #[inline]
    pub(crate) fn new(home: HomeRef, kind: Kind, location: &'static Location<'static>) -> Self {
        let flags = match kind {
            Kind::Task(observed) => observed as u16,
            Kind::Closure(at_shutdown, place) => CLOSURE | flag_of_end(at_shutdown) | flag_of_place(place),
        };
        let watched = if home.hooks().is_some() { WATCHED } else { 0 };
        Header {
            home,
            id: Id::next(),
            location,
            flags: AtomicU16::new(flags | watched),
            short_polls: AtomicU8::new(0),
            listing: Listing(AtomicU8::new(UNLISTED)),
            key: AtomicU32::new(0),
            progress: Progress::new(),
            span: SpanId::default(),
        }
    }

    pub(crate) fn id_and_place(&self) -> (u64, &'static Location<'static>) {
        (self.id.as_u64(), self.location)
    }

    /// A task that may have a name.
    pub(in crate::task) fn named(
        home: HomeRef,
        kind: Kind,
        location: &'static Location<'static>,
        name: Option<&str>,
    ) -> Self {
        let header = Header::new(home, kind, location);
        if let Some(name) = name {
            header.flags.fetch_or(WATCHED, Relaxed);
            names::note(header.id, name);
        }
        header
    }

    /// The task has this span, if any. Its wakers emit events, so they are observed.
    #[cfg(feature = "tracing")]
    pub(in crate::task) fn observe_span(&mut self, span: SpanId) {
        if span.is_some() {
            self.flags.fetch_or(OBSERVED, Relaxed);
        }
        self.span = span;
    }

    /// Makes the next poll drop the future instead of polling it. The caller must make sure that
    /// the task is scheduled.
    pub(crate) fn set_aborted(&self) {
        self.flags.fetch_or(ABORTED, AcqRel);
    }

    #[inline]
    pub(crate) fn is_aborted(&self) -> bool {
        self.flags.load(Acquire) & ABORTED != 0
    }

    /// Whether a poll only has to poll the future, with async-task's own waker: the task is not
    /// aborted, its wakers are not counted, and no dump wants its stacks.
    #[inline]
    pub(in crate::task) fn is_plain(&self) -> bool {
        self.flags.load(Acquire) & (ABORTED | OBSERVED | SITES) == 0
    }

    /// Whether the end of a poll only has to wait.
    #[inline]
    pub(in crate::task) fn only_waits(&self) -> bool {
        self.flags.load(Acquire) & (ABORTED | SITES) == 0
    }

    /// The next poll gives stacks. As for `ask_for_trace`.
    pub(in crate::task) fn ask_for_sites(&self) {
        self.flags.fetch_or(SITES, AcqRel);
    }

    pub(in crate::task) fn is_asked_for_sites(&self) -> bool {
        self.flags.load(Acquire) & SITES != 0
    }

    pub(in crate::task) fn has_given_sites(&self) {
        self.flags.fetch_and(!SITES, AcqRel);
    }

    pub(in crate::task) fn is_observed(&self) -> bool {
        self.flags.load(Relaxed) & OBSERVED != 0
    }

    /// The waker with which an observed task is to be polled, made from async-task's.
    #[cold]
    #[inline(never)]
    pub(in crate::task) fn observing_waker(&'static self, task: &Waker) -> Option<&'static Waker> {
        self.is_observed().then(|| self.home.registry().observe(self, task))
    }

    #[inline]
    pub(in crate::task) fn is_watched(&self) -> bool {
        self.flags.load(Relaxed) & WATCHED != 0
    }

    #[inline]
    pub(crate) fn special(&self) -> Option<Special> {
        let flags = self.flags.load(Relaxed);
        if flags & (CLOSURE | COMPUTES | BLOCKS) == 0 {
            None
        } else if flags & CLOSURE != 0 {
            Some(Special::Closure)
        } else if flags & ABORTED != 0 {
            // The poll only drops the future.
            None
        } else if flags & COMPUTES != 0 {
            Some(Special::Hog(StuckBy::Computing))
        } else {
            Some(Special::Hog(StuckBy::Blocking))
        }
    }

    /// The next poll makes a trace. Called under the lock of the registry's shard, by a caller that
    /// wakes the task afterwards.
    #[cfg(feature = "taskdump")]
    pub(in crate::task) fn ask_for_trace(&self) {
        self.flags.fetch_or(TRACED, AcqRel);
    }

    /// Whether the poll that begins must make a trace.
    #[cfg(feature = "taskdump")]
    #[inline]
    pub(in crate::task) fn take_trace_request(&self) -> bool {
        self.flags.load(Acquire) & TRACED != 0 && self.flags.fetch_and(!TRACED, AcqRel) & TRACED != 0
    }

    /// The task's name, for the dump. Takes the lock of the names for watched tasks only.
    pub(crate) fn name(&self) -> Option<Box<str>> {
        if self.is_watched() { names::name_of(self.id) } else { None }
    }

    /// Whether the registry lists the task. Once listed, the task stays listed until its end.
    pub(crate) fn is_listed(&self) -> bool {
        self.listing.is_listed()
    }

    pub(crate) fn is_closure(&self) -> bool {
        self.flags.load(Relaxed) & CLOSURE != 0
    }

    /// Which thread runs the closure.
    pub(crate) fn place(&self) -> Place {
        if self.flags.load(Relaxed) & IN_PLACE == 0 { Place::Pool } else { Place::Machine }
    }

    /// Whether the closure must run even when the runtime shuts down. An abort still drops it.
    pub(crate) fn must_finish(&self) -> bool {
        self.flags.load(Acquire) & (FINISHES | ABORTED) == FINISHES
    }

    /// Whether this is a closure that a runtime which shuts down still runs if it can.
    pub(crate) fn may_run_at_end(&self) -> bool {
        self.flags.load(Acquire) & (CLOSURE | ABANDONED | ABORTED) == CLOSURE
    }

    pub(crate) fn may_be_abandoned(&self) -> bool {
        self.flags.load(Relaxed) & ABANDONED != 0
    }

    /// A poll of the task was stuck. The latest cause replaces an earlier one, because it predicts
    /// the next poll best.
    pub(crate) fn mark_hog(&self, cause: StuckBy) {
        let (flag, other) = match cause {
            StuckBy::Blocking => (BLOCKS, COMPUTES),
            StuckBy::Computing => (COMPUTES, BLOCKS),
        };
        self.short_polls.store(0, Relaxed);
        self.flags.fetch_and(!other, Relaxed);
        self.flags.fetch_or(flag, Relaxed);
    }

    /// Marks a task that has not been polled yet as a hog. One short poll removes the mark.
    pub(crate) fn mark_suspect(&self) {
        self.mark_hog(StuckBy::Computing);
        self.short_polls.store(SHORT_POLLS - 1, Relaxed);
    }

    /// A poll of a task that is marked as a hog was short.
    pub(crate) fn note_short_poll(&self) {
        let in_a_row = self.short_polls.load(Relaxed) + 1;
        self.short_polls.store(in_a_row, Relaxed);
        if in_a_row >= SHORT_POLLS {
            self.short_polls.store(0, Relaxed);
            self.flags.fetch_and(!(BLOCKS | COMPUTES), Relaxed);
        }
    }

    /// Whether the task may wait for a hog's permit.
    pub(in crate::task) fn may_wait_for_permit(&self) -> bool {
        self.flags.load(Relaxed) & COMPUTES != 0
    }

    /// Records that the task has got a permit. Called by the thread that acquires the permit for
    /// the task.
    pub(crate) fn give_permit(&self) {
        self.flags.fetch_or(HAS_PERMIT, Relaxed);
    }

    /// Takes the task's permit, if it has one. If this returns `true`, the caller must release the
    /// permit.
    pub(crate) fn take_permit(&self) -> bool {
        self.flags.load(Relaxed) & HAS_PERMIT != 0 && self.flags.fetch_and(!HAS_PERMIT, Relaxed) & HAS_PERMIT != 0
    }
}

/// Whether a runtime observes its tasks. The values are the flag, so that a spawn needn't branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Observed {
    #[default]
    No = 0,
    Yes = OBSERVED,
}

/// The kinds of bodies that a task can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A future of a runtime that observes its tasks, or doesn't.
    Task(Observed),
    Closure(AtShutdown, Place),
}

#[inline]
fn flag_of_end(at_shutdown: AtShutdown) -> u16 {
    match at_shutdown {
        AtShutdown::Wait => 0,
        AtShutdown::Finish => FINISHES,
        AtShutdown::Abandon => ABANDONED,
    }
}

#[inline]
fn flag_of_place(place: Place) -> u16 {
    match place {
        Place::Pool => 0,
        Place::Machine => IN_PLACE,
    }
}
