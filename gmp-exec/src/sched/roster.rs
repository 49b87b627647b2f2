//! Every machine that has a thread: for sysmon to look at, and for shutdown to wait for.

use super::machine::Machine;
use crate::sync::{Arc, Mutex};
use event_listener::{Event, Listener};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Roster(std::sync::Arc<Inner>);

#[derive(Debug)]
struct Inner {
    machines: Mutex<Vec<Arc<Machine>>>,
    /// Notified whenever a machine has left.
    left: Event,
}

/// Keeps a machine on the roster; held by its thread until the very end.
#[derive(Debug)]
pub(crate) struct Ticket {
    roster: Roster,
    machine: Arc<Machine>,
}

impl Roster {
    pub(crate) fn new() -> Roster {
        Roster(std::sync::Arc::new(Inner { machines: Mutex::new(Vec::new()), left: Event::new() }))
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

    pub(crate) fn len(&self) -> usize {
        self.0.machines.lock().len()
    }

    /// Waits until every thread has left; `false`: not within `limit` (`None`: as long as it takes).
    pub(crate) fn wait_empty(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let listener = self.0.left.listen();
            if self.len() == 0 {
                return true;
            }
            match deadline {
                None => listener.wait(),
                Some(deadline) => {
                    if listener.wait_deadline(deadline).is_none() {
                        return self.len() == 0;
                    }
                }
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.roster.0.machines.lock().retain(|machine| !Arc::ptr_eq(machine, &self.machine));
        self.roster.0.left.notify(usize::MAX);
    }
}
