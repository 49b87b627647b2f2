//! A limited number of places, and tasks that wait in line for one.
//!
//! Blocking closures and polls that compute are admitted alike: a task that finds no place waits in line, and a machine that
//! gives a place up lets the task in that has waited longest. Both happen under one lock: finding no place and getting in line as two steps would
//! leave a task behind that nobody lets in. A place is handed on together with the task, so no later task gets it
//! first. The lock is taken twice per closure or hog, never per ordinary task.
//!
//! A place is only counted, and belongs to no machine by name: each of those who take one gives up one. Places may be given away beyond their number
//! (`let_over`, `count_over`); then as many have to be given up before the next task in line is let in.

use std::collections::VecDeque;

use crate::sync::Mutex;
use crate::task::Runnable;

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
pub(in crate::sched) enum Admitted {
    /// It has a place.
    Now(Runnable),
    /// It waits in line.
    Later,
    /// The runtime is shutting down, or the task was aborted: it is given back, to be cancelled.
    Never(Runnable),
}

impl Admission {
    pub(crate) fn new(places: usize) -> Admission {
        Admission { places, line: Mutex::new(Line { running: 0, waiting: VecDeque::new(), closed: false }) }
    }

    pub(in crate::sched) fn admit(&self, task: Runnable) -> Admitted {
        let mut line = self.line.lock();
        // Under the lock: who aborts a task sets its flag first and looks for it in line second.
        if line.closed || task.metadata().is_aborted() {
            return Admitted::Never(task);
        }
        if line.running < self.places {
            line.running += 1;
            return Admitted::Now(task);
        }
        line.waiting.push_back(task);
        Admitted::Later
    }

    /// Gives a place up. It goes to the task that has waited longest, if there are not more places taken than there may be.
    #[must_use = "the task has a place, and nobody else would run it"]
    pub(in crate::sched) fn pass_on(&self) -> Option<Runnable> {
        let mut line = self.line.lock();
        line.running -= 1;
        if line.running >= self.places {
            return None;
        }
        line.let_in()
    }

    /// Gives a place beyond their number to the task that has waited longest.
    #[must_use = "the task has a place, and nobody else would run it"]
    pub(in crate::sched) fn let_over(&self) -> Option<Runnable> {
        self.line.lock().let_in()
    }

    /// Takes a place for something that runs already. `false`: there is none.
    pub(in crate::sched) fn try_count(&self) -> bool {
        let mut line = self.line.lock();
        let may = line.running < self.places;
        line.running += usize::from(may);
        may
    }

    /// The same, beyond their number if need be.
    pub(in crate::sched) fn count_over(&self) {
        self.line.lock().running += 1;
    }

    /// Gives up a place that was taken after `close`: nobody waits any more.
    pub(in crate::sched) fn uncount(&self) {
        self.line.lock().running -= 1;
    }

    /// Takes those out of the line that were aborted while they waited.
    pub(in crate::sched) fn take_aborted(&self) -> Vec<Runnable> {
        let mut line = self.line.lock();
        let (aborted, waiting): (Vec<_>, Vec<_>) =
            line.waiting.drain(..).partition(|task| task.metadata().is_aborted());
        line.waiting = waiting.into();
        aborted
    }

    pub(crate) fn running(&self) -> usize {
        self.line.lock().running
    }

    pub(crate) fn waiting(&self) -> usize {
        self.line.lock().waiting.len()
    }

    /// How many places are taken beyond their number.
    pub(in crate::sched) fn excess(&self) -> usize {
        self.line.lock().running.saturating_sub(self.places)
    }

    /// Lets nobody in from now on and returns who waits.
    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut line = self.line.lock();
        line.closed = true;
        line.waiting.drain(..).collect()
    }
}

impl Line {
    fn let_in(&mut self) -> Option<Runnable> {
        let next = self.waiting.pop_front()?;
        self.running += 1;
        Some(next)
    }
}
