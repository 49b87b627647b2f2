//! The dumps that wait for traces of tasks. The protocol is in the module's docs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::Trace;
use crate::sync::{Condvar, Mutex, OnceLock};
use crate::task::{Header, Id};

/// All dumps under way. An id is of one task in the process, so the tasks of all runtimes may be
/// asked for here.
static UNDER_WAY: OnceLock<Mutex<Vec<Arc<Shared>>>> = OnceLock::new();

fn under_way() -> &'static Mutex<Vec<Arc<Shared>>> {
    UNDER_WAY.get_or_init(|| Mutex::new(Vec::new()))
}

/// The tasks that one dump has asked for traces. Dropping it ends the dump.
#[derive(Debug)]
pub(crate) struct Asked(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    found: Mutex<Found>,
    /// Signalled whenever a trace has come, or a task has ended.
    changed: Condvar,
}

/// What a dump has found out about the tasks that it has asked.
#[derive(Debug, Default)]
pub(crate) struct Found {
    awaited: HashSet<Id>,
    pub(crate) traces: HashMap<Id, Trace>,
    /// The tasks that have ended since.
    pub(crate) ended: HashSet<Id>,
}

impl Asked {
    pub(crate) fn new() -> Asked {
        let shared = Arc::new(Shared::default());
        under_way().lock().push(shared.clone());
        Asked(shared)
    }

    /// Asks the task for a trace, unless it was asked before. The caller has the lock of the task's
    /// shard, and wakes the task if `true` is returned.
    #[must_use = "an asked task must be woken"]
    pub(crate) fn ask(&self, header: &Header) -> bool {
        let mut found = self.0.found.lock();
        if found.traces.contains_key(&header.id) || !found.awaited.insert(header.id) {
            return false;
        }
        header.ask_for_trace();
        true
    }

    /// How many tasks were asked.
    pub(crate) fn count(&self) -> usize {
        let found = self.0.found.lock();
        found.awaited.len() + found.traces.len() + found.ended.len()
    }

    /// Waits until each task has a trace or has ended, but no longer if there was none for `limit`.
    pub(crate) fn wait(self, limit: Duration) -> Found {
        let mut found = self.0.found.lock();
        while !found.awaited.is_empty() {
            let before = found.awaited.len();
            let (guard, is_timeout) = self.0.changed.wait_timeout(found, limit);
            found = guard;
            if is_timeout && found.awaited.len() == before {
                break;
            }
        }
        std::mem::take(&mut found)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        under_way().lock().retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

impl Shared {
    fn give(&self, id: Id, trace: Option<&Trace>, is_over: bool) {
        let mut found = self.found.lock();
        if !found.awaited.remove(&id) {
            return;
        }
        if is_over {
            found.ended.insert(id);
        } else if let Some(trace) = trace {
            found.traces.insert(id, trace.clone());
        }
        self.changed.notify_one();
    }
}

fn give(id: Id, trace: Option<&Trace>, is_over: bool) {
    let dumps = under_way().lock().clone();
    dumps.iter().for_each(|dump| dump.give(id, trace, is_over));
}

/// Polls the task, with a trace if a dump has asked for one. `is_over`: whether the task has ended
/// with this poll.
pub(in crate::task) fn poll_traced<R>(
    header: &Header,
    poll: impl FnOnce() -> R,
    is_over: impl FnOnce(&R) -> bool,
) -> R {
    if !header.take_trace_request() {
        return poll();
    }
    let (result, trace) = Trace::capture(poll);
    give(header.id, Some(&trace), is_over(&result));
    result
}

/// The task has ended, and a dump had asked for its trace.
pub(in crate::task) fn ended(header: &Header) {
    if header.take_trace_request() {
        give(header.id, None, true);
    }
}
