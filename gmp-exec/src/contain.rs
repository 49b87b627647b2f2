//! Calling code of others from where nothing may unwind.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `f`; `None`: it has panicked, which the panic hook has reported.
///
/// The payload is forgotten. Its destructor is code of others too, and may panic with the next one.
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(mem::forget).ok()
}
