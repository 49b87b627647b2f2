//! Every machine that has a thread: for sysmon to look at, and for shutdown to wait for.

use super::machine::Machine;
use crate::metrics::Counter;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::{Arc, Mutex};
use event_listener::{Event, Listener};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Roster(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    machines: Mutex<Vec<Arc<Machine>>>,
    /// What machines that have left had counted.
    left_behind: TaskCounters,
    /// Notified whenever a machine has left, or need no longer be waited for.
    left: Event,
}

/// Tasks that a machine has spawned, and futures that were dropped on it. Written by the machine's thread alone.
#[derive(Debug, Default)]
pub(crate) struct TaskCounters {
    pub(crate) spawned: Counter,
    pub(crate) finished: Counter,
}

impl TaskCounters {
    /// `finished` first: a task that is counted there is counted as spawned already.
    pub(crate) fn read(&self) -> (u64, u64) {
        let finished = self.finished.get();
        (self.spawned.get(), finished)
    }

    fn absorb(&self, other: &TaskCounters) {
        let (spawned, finished) = other.read();
        self.spawned.add(spawned);
        self.finished.add(finished);
    }
}

/// Keeps a machine on the roster; held by its thread until the very end.
#[derive(Debug)]
pub(crate) struct Ticket {
    roster: Roster,
    machine: Arc<Machine>,
}

/// While it exists, the end of the runtime does not wait for the machine.
#[derive(Debug)]
pub(crate) struct Excuse {
    machine: Arc<Machine>,
}

impl Drop for Excuse {
    fn drop(&mut self) {
        self.machine.excused.store(false, SeqCst);
    }
}

impl Roster {
    pub(crate) fn new() -> Roster {
        Roster(Arc::new(Inner {
            machines: Mutex::new(Vec::new()),
            left_behind: TaskCounters::default(),
            left: Event::new(),
        }))
    }

    pub(crate) fn enter(&self, machine: Arc<Machine>) -> Ticket {
        self.0.machines.lock().push(machine.clone());
        Ticket { roster: self.clone(), machine }
    }

    pub(crate) fn for_each(&self, look: impl FnMut(&Arc<Machine>)) {
        self.0.machines.lock().iter().for_each(look);
    }

    /// Copies the list, for callers that will do more than look.
    pub(crate) fn copy_into(&self, machines: &mut Vec<Arc<Machine>>) {
        machines.clear();
        machines.extend(self.0.machines.lock().iter().cloned());
    }

    /// Tasks spawned and finished on machines, past ones included.
    pub(crate) fn task_counts(&self) -> (u64, u64) {
        let machines = self.0.machines.lock();
        let counts = machines.iter().map(|machine| machine.counters.read()).chain([self.0.left_behind.read()]);
        counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
    }

    /// The machine is about to do something that may never end, and nobody needs the result.
    pub(crate) fn excuse(&self, machine: &Arc<Machine>) -> Excuse {
        machine.excused.store(true, SeqCst);
        self.0.left.notify(usize::MAX);
        Excuse { machine: machine.clone() }
    }

    pub(crate) fn is_anybody_awaited(&self) -> bool {
        self.0.machines.lock().iter().any(|machine| !machine.excused.load(SeqCst))
    }

    /// Waits until every thread has left, or is excused; `false`: not within `limit` (`None`: as long as it takes).
    pub(crate) fn wait_empty(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let listener = self.0.left.listen();
            if !self.is_anybody_awaited() {
                return true;
            }
            match deadline {
                None => listener.wait(),
                Some(deadline) => {
                    if listener.wait_deadline(deadline).is_none() {
                        return !self.is_anybody_awaited();
                    }
                }
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut machines = self.roster.0.machines.lock();
        machines.retain(|machine| !Arc::ptr_eq(machine, &self.machine));
        self.roster.0.left_behind.absorb(&self.machine.counters);
        drop(machines);
        self.roster.0.left.notify(usize::MAX);
    }
}
