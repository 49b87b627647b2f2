//! A limited number of places, and tasks that wait for one.
//!
//! Blocking closures and known hogs are admitted alike: whoever finds no place waits in line, and whoever leaves looks
//! who waits. Both happen under one lock: finding no place and getting in line as two steps would leave a task behind
//! that nobody lets in. The lock is taken twice per closure or hog, never per ordinary task.

use crate::sync::Mutex;
use crate::task::Runnable;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Admission {
    places: usize,
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    running: usize,
    waiting: VecDeque<Runnable>,
    closed: bool,
}

#[must_use]
pub(super) enum Admitted {
    /// It has a place.
    Now(Runnable),
    /// It waits in line.
    Later,
    /// The runtime is shutting down: the task is given back, to be cancelled.
    Never(Runnable),
}

impl Admission {
    pub(crate) fn new(places: usize) -> Admission {
        Admission { places, line: Mutex::new(Line { running: 0, waiting: VecDeque::new(), closed: false }) }
    }

    pub(super) fn admit(&self, task: Runnable) -> Admitted {
        let mut line = self.line.lock();
        if line.closed {
            return Admitted::Never(task);
        }
        if line.running < self.places {
            line.running += 1;
            return Admitted::Now(task);
        }
        line.waiting.push_back(task);
        Admitted::Later
    }

    /// Gives a place up. The task that has waited longest comes out of the line, to be admitted again.
    pub(super) fn leave(&self) -> Option<Runnable> {
        let mut line = self.line.lock();
        line.running -= 1;
        line.waiting.pop_front()
    }

    /// Gives a place to the task that has waited longest, or up if none waits.
    pub(super) fn pass_on(&self) -> Option<Runnable> {
        let mut line = self.line.lock();
        let next = line.waiting.pop_front();
        if next.is_none() {
            line.running -= 1;
        }
        next
    }

    /// Takes a place for something that runs already. `false`: there is none.
    pub(super) fn try_count(&self) -> bool {
        let mut line = self.line.lock();
        let may = line.running < self.places;
        line.running += usize::from(may);
        may
    }

    /// Gives up a place that was taken after `close`: nobody waits any more.
    pub(super) fn uncount(&self) {
        self.line.lock().running -= 1;
    }

    pub(crate) fn running(&self) -> usize {
        self.line.lock().running
    }

    pub(crate) fn waiting(&self) -> usize {
        self.line.lock().waiting.len()
    }

    /// Lets nobody in from now on and returns who waits.
    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut line = self.line.lock();
        line.closed = true;
        line.waiting.drain(..).collect()
    }
}
