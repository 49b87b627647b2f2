//! Blocks of task ids. The choice of a registry's shard follows from the id, so the ids of a run
//! must not depend on other runs, as they would if the counter were a static.

use std::cell::Cell;

use super::caches::Access::Write;
use super::{recorder, step};

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

/// Begins anew, on this real thread.
pub(super) fn reset() {
    NEXT.set(1);
}

/// Reserves so many ids. Returns the first.
#[track_caller]
pub fn reserve(ids: u64) -> u64 {
    step();
    NEXT.with(|next| recorder::touch(std::ptr::from_ref(next).addr(), size_of::<u64>(), Write));
    NEXT.replace(NEXT.get() + ids)
}
