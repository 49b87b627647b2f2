//! All processors of a runtime: as many as it has ever had at a time.
//!
//! A runtime that gets more processors appends a part. Parts never move and stay until the runtime
//! ends, so a thread may use a processor without asking whether it still exists. A processor that
//! is retired keeps its place, its timers and its counters. The first part is what hot paths use:
//! there, an index costs its bounds check as in a plain slice.
#![allow(unsafe_code, reason = "makes an owner proof")]

use std::iter;
use std::ops::{Index, Range};

use crate::metrics::HistogramSettings;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::processor::Processor;
use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sync::OnceLock;
use crate::task::Runnable;

pub(crate) struct Processors {
    own: Box<[Processor]>,
    /// The processors that were added later. Set once, under the lock of `Idle`, before any of
    /// their tokens is on a list.
    more: OnceLock<Box<Processors>>,
    histograms: HistogramSettings,
}

impl Processors {
    pub(crate) fn new(indices: Range<usize>, histograms: &HistogramSettings) -> Processors {
        Processors {
            own: indices.map(|index| Processor::new(index, histograms)).collect(),
            more: OnceLock::new(),
            histograms: histograms.clone(),
        }
    }

    /// Appends processors and returns their tokens. The caller holds a lock.
    pub(in crate::sched) fn add(&self, count: usize) -> Vec<ProcessorToken> {
        let first = self.len();
        let last = self.parts().last().unwrap_or(self);
        let added = last.more.set(Box::new(Processors::new(first..first + count, &self.histograms)));
        assert!(added.is_ok(), "one thread adds processors at a time");
        ProcessorToken::mint(first..first + count)
    }

    /// How many processors there are, whether in use or retired.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.parts().map(|part| part.own.len()).sum()
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Processor> + Clone {
        let added = iter::successors(self.more(), |part| part.more());
        self.own.iter().chain(added.flat_map(|part| part.own.iter()))
    }

    /// Whether `is` holds for a processor. Without `iter`, whose chain the compiler inlines or does not
    /// for reasons elsewhere: this is asked for each spawn and each blocking section.
    #[inline]
    pub(in crate::sched) fn any(&self, is: impl Fn(&Processor) -> bool) -> bool {
        self.own.iter().any(&is) || self.more().is_some_and(|added| added.iter().any(is))
    }

    /// Takes a task out of the queue of a processor that no machine has.
    pub(in crate::sched) fn pop_without_machine(&self, token: &ProcessorToken) -> Option<Runnable> {
        let processor = &self[token.index()];
        // SAFETY: the token is the right to be the processor's only owner, and is borrowed for as long
        // as the proof exists.
        let proof = unsafe { OwnerProof::new() };
        processor.pop(&proof).or_else(|| processor.pop_oldest(&proof))
    }

    fn parts(&self) -> impl Iterator<Item = &Processors> {
        iter::successors(Some(self), |part| part.more())
    }

    #[inline]
    fn more(&self) -> Option<&Processors> {
        self.more.get().map(Box::as_ref)
    }

    #[cold]
    #[track_caller]
    fn added(&self, index: usize) -> &Processor {
        let Some(processor) = self.iter().nth(index) else {
            panic!("there is no worker {index}: the index is out of bounds");
        };
        processor
    }
}

impl Index<usize> for Processors {
    type Output = Processor;

    #[inline]
    #[track_caller]
    fn index(&self, index: usize) -> &Processor {
        match self.own.get(index) {
            Some(processor) => processor,
            None => self.added(index),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn added_processors_follow_the_others_and_none_moves() {
        let processors = Processors::new(0..2, &HistogramSettings::default());
        let before: Vec<*const Processor> = processors.iter().map(ptr::from_ref).collect();
        let indices = |tokens: Vec<ProcessorToken>| tokens.iter().map(ProcessorToken::index).collect::<Vec<_>>();
        assert_eq!(indices(processors.add(1)), [2]);
        assert_eq!(indices(processors.add(3)), [3, 4, 5]);
        assert_eq!(processors.len(), 6);
        let after: Vec<*const Processor> = processors.iter().map(ptr::from_ref).collect();
        assert_eq!(after[..2], before);
        for (index, &processor) in after.iter().enumerate() {
            assert!(ptr::eq(processor, &processors[index]));
        }
    }

    #[test]
    #[should_panic(expected = "there is no worker 3")]
    fn an_index_beyond_all_processors_is_named() {
        let processors = Processors::new(0..1, &HistogramSettings::default());
        drop(processors.add(2));
        let _ = &processors[3];
    }
}
