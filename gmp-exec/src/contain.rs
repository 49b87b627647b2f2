//! Calling foreign code from a place where nothing may unwind.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `f`. Returns `None` if `f` panicked; the panic hook has reported that.
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(discard).ok()
}

/// Drops a panic's payload. The payload's destructor is foreign code, too. If the destructor
/// panics, the second payload is leaked, because dropping it could panic again.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(mem::forget);
}
