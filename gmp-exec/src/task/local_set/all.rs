//! Every set of the process, for the dump of tasks (`dump`), the check for lost ones (`lost`), and the
//! metrics of a local runtime.
//!
//! A set belongs to no runtime. It counts as a set of the runtime that was current when the set was
//! made or polled last.

use std::sync::Weak;

use super::LocalHome;
use crate::sched::Scheduler;
use crate::sync::Arc;

static ALL: std::sync::Mutex<Vec<Weak<LocalHome>>> = std::sync::Mutex::new(Vec::new());

fn lock() -> std::sync::MutexGuard<'static, Vec<Weak<LocalHome>>> {
    ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(super) fn add(home: &Arc<LocalHome>) {
    let mut all = lock();
    if all.len() == all.capacity() {
        all.retain(|other| other.strong_count() > 0);
    }
    all.push(Arc::downgrade(home));
}

pub(super) fn address(scheduler: &Scheduler) -> usize {
    std::ptr::from_ref(scheduler).addr()
}

/// The set that a local runtime consists of, as long as the runtime lives.
pub(crate) fn set_of_local_runtime(scheduler: &Scheduler) -> Option<Arc<LocalHome>> {
    let sets = if scheduler.config.is_local { local_sets_of(scheduler) } else { Vec::new() };
    sets.into_iter().find(|set| set.is_of_runtime())
}

/// The sets of a runtime.
pub(crate) fn local_sets_of(scheduler: &Scheduler) -> Vec<Arc<LocalHome>> {
    let sets: Vec<Arc<LocalHome>> = lock().iter().filter_map(Weak::upgrade).collect();
    sets.into_iter().filter(|set| set.runtime() == address(scheduler)).collect()
}
