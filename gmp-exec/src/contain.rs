//! Calling code of others from where nothing may unwind.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `f`; `None`: it has panicked, which the panic hook has reported.
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(discard).ok()
}

/// Drops what somebody's code has panicked with. Its destructor is code of others, too: what that
/// panics with is forgotten, because a third panic could follow, and so on.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(mem::forget);
}
