//! Where nothing may unwind: calling foreign code from there, and what happens if gmp's own code
//! panics there.

use std::any::Any;
use std::io::{self, Write};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{process, thread};

/// Calls `f`. Returns `None` if `f` panicked; the panic hook has reported that.
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(discard).ok()
}

/// Drops a panic's payload. The payload's destructor is foreign code, too. If the destructor
/// panics, the second payload is leaked, because dropping it could panic again.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(mem::forget);
}

/// Calls `f`, which is gmp's own code. If `f` panics, tasks may have been lost, and those that wait
/// for them would wait for ever. So the process is aborted. The panic hook has given the reason.
pub(crate) fn abort_on_unwind<R>(f: impl FnOnce() -> R) -> R {
    let abort = AbortOnUnwind;
    let result = f();
    mem::forget(abort);
    result
}

struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        abort();
    }
}

/// This thread is unwinding out of gmp's own code.
#[cold]
pub(crate) fn abort() -> ! {
    let thread = thread::current();
    let name = thread.name().unwrap_or("?");
    let line = format!("gmp: thread {name:?} has panicked outside of any task; aborting the process\n");
    // One write, so that the lines of several threads do not mix. Nothing can be done about a
    // closed stderr.
    let _ = io::stderr().write_all(line.as_bytes());
    process::abort();
}
