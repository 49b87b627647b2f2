//! The names of tasks. Few tasks have one, so names are in a table beside the tasks.
//!
//! A name is entered before its task is queued, and forgotten when the task's future has been
//! dropped. Only tasks with the flag `WATCHED` are looked up.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::task::Id;

static NAMES: OnceLock<Mutex<HashMap<Id, Box<str>>>> = OnceLock::new();

fn lock(names: &Mutex<HashMap<Id, Box<str>>>) -> MutexGuard<'_, HashMap<Id, Box<str>>> {
    names.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(in crate::task) fn note(id: Id, name: &str) {
    lock(NAMES.get_or_init(Default::default)).insert(id, name.into());
}

/// The task's name, if it has one and has not ended.
pub(crate) fn name_of(id: Id) -> Option<Box<str>> {
    lock(NAMES.get()?).get(&id).cloned()
}

/// Without any name in the process, no lock is taken.
pub(in crate::task) fn forget(id: Id) {
    if let Some(names) = NAMES.get() {
        lock(names).remove(&id);
    }
}
