//! The queue that all processors share: overflow, tasks woken from outside, tasks woken without a
//! processor.
//!
//! A runtime that was built with 16 processors or more has several parts, each with a lock of its
//! own, so that not all submitters and takers need the same cache lines. A thread pushes to the
//! part that its number chooses: what one thread pushes stays in order. A taker begins at some part
//! and goes on to the next if that is empty, so no task waits for a particular processor.

mod part;

use std::collections::VecDeque;

pub(crate) use self::part::Pushed;
use self::part::{Part, take_or_refuse};
use crate::sched::state::striped::Striped;
use crate::task::Runnable;

/// So many processors share a part, or up to twice as many, because the number of parts is a power
/// of two. With 64 processors, a spawn by one of 64 threads takes 10.2 transfers of cache lines;
/// with 16 processors for each part 11.7, with 32 14.8.
const PROCESSORS: usize = 8;

pub(crate) struct GlobalQueue {
    parts: Striped<Part>,
}

/// Where [`GlobalQueue::look`] goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    part: usize,
    task: u64,
}

impl GlobalQueue {
    pub(crate) fn new(processors: usize) -> Self {
        GlobalQueue { parts: Striped::new(processors / PROCESSORS, Part::new) }
    }

    /// `number`: that of the calling thread.
    pub(crate) fn push(&self, number: usize, tasks: impl IntoIterator<Item = Runnable>) -> Pushed {
        self.parts.of(number).push(tasks)
    }

    /// Removes one processor's share of a part, at most `most` tasks. Returns the first task; the
    /// rest go to `keep`. Begins with the part `next`, which is then the one after the part that
    /// was found: a taker that keeps it serves all parts that have tasks in turn.
    #[doc(alias = "globrunqget")]
    pub(crate) fn pop(
        &self,
        next: &mut usize,
        processors: usize,
        most: usize,
        mut keep: impl FnMut(Runnable),
    ) -> Option<Runnable> {
        // If a few of many processors are active, they take from all parts.
        let sharing = processors.div_ceil(self.parts.len()).max(processors.min(PROCESSORS));
        (*next..*next + self.parts.len()).find_map(|part| {
            let first = self.parts.of(part).pop(sharing, most, &mut keep)?;
            *next = (part + 1) % self.parts.len();
            Some(first)
        })
    }

    /// Removes the oldest task of the first part that has one.
    pub(crate) fn pop_one(&self) -> Option<Runnable> {
        self.parts.iter().find_map(Part::pop_one)
    }

    /// From now on only the caller takes tasks out. It must call [`condemned`](Self::condemned)
    /// until that returns `None`.
    pub(crate) fn close(&self) {
        self.parts.iter().for_each(Part::close);
    }

    /// Tasks to be cancelled. `None`: there are none, and from now on every push is refused.
    pub(crate) fn condemned(&self) -> Option<VecDeque<Runnable>> {
        Some(take_or_refuse(self.parts.iter())).filter(|tasks| !tasks.is_empty())
    }

    /// Shows the tasks from this position on, at most so many. Returns the position to go on with;
    /// `None`: there are no more.
    pub(crate) fn look(&self, from: Position, most: usize, see: impl FnMut(&Runnable)) -> Option<Position> {
        let Position { part, task } = from;
        match self.parts.of(part).look(task, most, see) {
            Some(task) => Some(Position { part, task }),
            None => (part + 1 < self.parts.len()).then_some(Position { part: part + 1, task: 0 }),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.all(Part::is_empty)
    }

    #[inline]
    pub(crate) fn is_part_empty(&self, part: usize) -> bool {
        self.parts.of(part).is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }
}
