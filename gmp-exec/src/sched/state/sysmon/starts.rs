//! Machines whose threads sysmon is to start.
//!
//! A thread inherits from the thread that starts it: priority, affinity, signal mask, credentials,
//! root, namespaces. A poll or a closure may have changed those of its thread, and the main thread
//! may have since it built the runtime. sysmon runs no code of users, so the threads that it starts
//! are as the thread was that built the runtime.

use std::sync::OnceLock;
use std::thread::ThreadId;

use crate::sched::state::machine::Machine;
use crate::sync::{Arc, Mutex};

#[derive(Debug, Default)]
pub(in crate::sched) struct Starts {
    queue: Mutex<Queue>,
    sysmon: OnceLock<ThreadId>,
}

/// `None`: sysmon starts no threads, because it does not exist yet, or no longer.
type Queue = Option<Vec<Arc<Machine>>>;

impl Starts {
    /// sysmon is about to exist.
    pub(in crate::sched) fn open(&self) {
        *self.queue.lock() = Some(Vec::new());
    }

    /// Called by sysmon's thread.
    pub(in crate::sched) fn bind(&self) {
        self.sysmon.get_or_init(|| std::thread::current().id());
    }

    /// Leaves a machine to sysmon, which the caller must call.
    ///
    /// # Errors
    ///
    /// sysmon starts no threads: the caller has to.
    pub(in crate::sched) fn add(&self, machine: Arc<Machine>) -> Result<(), Arc<Machine>> {
        match &mut *self.queue.lock() {
            Some(queue) if !self.is_sysmon() => queue.push(machine),
            _ => return Err(machine),
        }
        Ok(())
    }

    pub(in crate::sched) fn take(&self) -> Vec<Arc<Machine>> {
        self.queue.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// sysmon is about to end.
    pub(in crate::sched) fn close(&self) -> Vec<Arc<Machine>> {
        self.queue.lock().take().unwrap_or_default()
    }

    fn is_sysmon(&self) -> bool {
        self.sysmon.get().is_some_and(|sysmon| *sysmon == std::thread::current().id())
    }
}
