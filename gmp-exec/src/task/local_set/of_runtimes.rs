//! The sets of this thread's local runtimes.
//!
//! `spawn_local` must find the set wherever the runtime is current, including under an `enter`
//! guard and in a task of [`spawn`](crate::spawn). So each thread keeps a list of its local
//! runtimes and their ids.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::LocalSet;
use crate::runtime::Id;

thread_local! {
    static SETS: RefCell<Vec<(Id, Weak<LocalSet>)>> = const { RefCell::new(Vec::new()) };
}

/// Records `set` as the set of the local runtime `id`, which this thread has built.
pub(crate) fn add_runtime(id: Id, set: &Rc<LocalSet>) {
    SETS.with_borrow_mut(|sets| sets.push((id, Rc::downgrade(set))));
}

/// Forgets a local runtime that has ended.
pub(crate) fn remove_runtime(id: Id) {
    let _ended = SETS.try_with(|sets| sets.borrow_mut().retain(|(other, _)| *other != id));
}

/// The set of the local runtime `id`, if this thread has built that runtime.
pub(super) fn set_of(id: Id) -> Option<Rc<LocalSet>> {
    let find = |sets: &RefCell<Vec<(Id, Weak<LocalSet>)>>| {
        sets.borrow().iter().find(|(other, _)| *other == id).and_then(|(_, set)| set.upgrade())
    };
    SETS.try_with(find).ok().flatten()
}
