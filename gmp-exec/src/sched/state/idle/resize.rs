//! How many processors may be in use, and the processors that are retired because there are more.
//!
//! | | idle list | retired list | with a machine |
//! |---|---|---|---|
//! | grow | + | − | |
//! | shrink | − | + | |
//! | a machine returns its processor, and there is a surplus | | + | − |
//! | and there is none | + | | − |
//!
//! Every change is made under the lock of `Idle` (sched/README.md §11).

use std::sync::atomic::AtomicUsize;

use crate::sched::state::idle::Idle;
use crate::sched::state::idle::lists::{Lists, ONE_IDLE};
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::atomic::Ordering::*;

/// The numbers that are read without the lock. Each is a hint there: a decision that depends on it
/// is made again under the lock, or is right for any recent value. So Relaxed is enough, and the
/// models need not see them. Written under the lock.
pub(in crate::sched) struct Numbers {
    /// How many processors may be in use. At least 1.
    pub(super) active: AtomicUsize,
    /// How many more than that are in use: their machines will retire them.
    pub(super) surplus: AtomicUsize,
}

impl Idle {
    /// How many processors may be in use.
    #[inline]
    pub(crate) fn active(&self) -> usize {
        self.numbers.active.load(Relaxed)
    }

    /// How many processors are in use or idle: not retired.
    pub(crate) fn unretired(&self) -> usize {
        self.active() + self.numbers.surplus.load(Relaxed)
    }

    /// Whether more processors are in use than may be. A machine that sees this returns its
    /// processor.
    #[inline]
    pub(crate) fn has_surplus(&self) -> bool {
        self.numbers.surplus.load(Relaxed) > 0
    }

    /// Sets how many processors may be in use, and returns the previous number. `add` makes more of
    /// them. After the runtime has begun to end nothing changes any more.
    ///
    /// If the number has grown, the caller must make a SeqCst fence and look for work.
    pub(in crate::sched) fn resize(&self, active: usize, add: impl FnOnce(usize) -> Vec<ProcessorToken>) -> usize {
        let mut lists = self.lists.lock();
        let before = self.active();
        if lists.closed {
            return before;
        }
        if active > lists.tokens {
            let added = add(active - lists.tokens);
            lists.tokens += added.len();
            lists.retired.extend(added);
        }
        self.numbers.active.store(active, Relaxed);
        self.bring_back(&mut lists, active);
        self.retire_idle(&mut lists, active);
        self.note_surplus(&lists);
        before
    }

    fn bring_back(&self, lists: &mut Lists, active: usize) {
        while lists.unretired() < active {
            let Some(token) = lists.retired.pop() else { return };
            lists.processors.push(token);
            self.word.fetch_add(ONE_IDLE, AcqRel);
        }
    }

    fn retire_idle(&self, lists: &mut Lists, active: usize) {
        while lists.unretired() > active {
            let Some(token) = lists.pop_processor(&self.word, false) else { return };
            lists.retired.push(token);
        }
    }

    /// A machine returns a processor that has no work: on the idle list, or retired if there is a
    /// surplus. Returns what to add to the word.
    #[must_use]
    pub(in crate::sched) fn list(&self, lists: &mut Lists, token: ProcessorToken) -> u64 {
        if !lists.closed && lists.unretired() > self.active() {
            lists.retired.push(token);
            self.note_surplus(lists);
            return 0;
        }
        lists.processors.push(token);
        ONE_IDLE
    }

    fn note_surplus(&self, lists: &Lists) {
        self.numbers.surplus.store(lists.unretired() - self.active(), Relaxed);
    }

    /// Whether at least one processor has a machine. Takes the lock, because the word does not
    /// count the retired processors.
    pub(crate) fn any_busy(&self) -> bool {
        let lists = self.lists.lock();
        lists.processors.len() < lists.unretired()
    }

    /// How many processors are retired.
    pub(crate) fn retired(&self) -> usize {
        self.lists.lock().retired.len()
    }
}

impl Lists {
    /// How many processors are on the idle list or with a machine.
    fn unretired(&self) -> usize {
        self.tokens - self.retired.len()
    }
}
