//! A runtime to be counted.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use crate::Subject;
use crate::meeting::{Meeting, Tally};
use crate::recorder::{self, Place};

/// The transfers of one run.
#[derive(Debug)]
pub struct Count {
    /// How many operations were counted.
    pub operations: usize,
    /// The transfers, by the place that asked for the line.
    pub transfers: HashMap<Place, u64>,
}

impl Count {
    /// The transfers of one operation.
    pub(super) fn each(&self) -> f64 {
        self.transfers.values().sum::<u64>() as f64 / self.operations as f64
    }
}

/// A runtime while a scenario runs.
#[derive(Clone, Debug)]
pub(super) struct Stage<S> {
    pub(super) runtime: S,
    pub(super) processors: usize,
    count: Arc<Mutex<Option<Count>>>,
}

impl<S: Subject> Stage<S> {
    pub(super) fn new(processors: usize) -> Stage<S> {
        Stage { runtime: S::new(processors), processors, count: Arc::default() }
    }

    /// Occupies each processor with one task, and waits until the tasks have ended. Each task is
    /// spawned when the one before it has begun: a worker of tokio may take several from the global
    /// queue, and no other worker hears of them while it polls the first.
    pub(super) fn on_each<F: Future<Output = ()> + Send + 'static>(&self, mut body: impl FnMut(usize, Meeting) -> F) {
        let meeting = Meeting::new(self.processors);
        let (begun, ended) = (Tally::new(), Tally::new());
        for index in 0..self.processors {
            let (body, meeting) = (body(index, meeting.clone()), meeting.clone());
            let (begin, end) = (begun.clone(), ended.clone());
            self.runtime.spawn(async move {
                begin.add();
                meeting.meet(|| ());
                body.await;
                end.add();
            });
            begun.wait_for(index + 1);
        }
        ended.wait_for(self.processors);
    }

    /// Ends the count that `recorder::begin` has begun.
    pub(super) fn end_count(&self, operations: usize) {
        let count = Count { operations, transfers: recorder::end() };
        let before = self.count.lock().expect("not poisoned").replace(count);
        assert!(before.is_none(), "one count for each run");
    }

    /// Shuts the runtime down, and returns what was counted.
    pub(super) fn shut_down(self) -> Count {
        self.runtime.shut_down();
        self.count.lock().expect("not poisoned").take().expect("the scenario has counted")
    }
}
