//! `malloc`: a place inside polls where another thread may go on.

use std::ffi::c_void;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use crate::seeded::decisions::Kind;
use crate::seeded::edge;

type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;

unsafe extern "C" {
    /// glibc: its `malloc`, under a name that nobody replaces.
    fn __libc_malloc(size: usize) -> *mut c_void;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    edge::pass(Kind::Edge);
    // SAFETY: the caller vouches for the argument.
    unsafe { original()(size) }
}

/// Whether this code is in a library inside another program: a macro that depends on tokio, inside rustc.
pub(in crate::seeded) fn is_in_library() -> bool {
    of_process() != malloc as *mut c_void
}

/// The `malloc` that goes with the process's `realloc` and `free`. rustc has its own of all three, which a
/// library inside rustc gets.
fn original() -> Malloc {
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut found = FOUND.load(Relaxed);
    if found.is_null() {
        found = if is_in_library() { of_process() } else { __libc_malloc as *mut c_void };
        FOUND.store(found, Relaxed);
    }
    // SAFETY: both are functions of this type.
    unsafe { std::mem::transmute::<*mut c_void, Malloc>(found) }
}

fn of_process() -> *mut c_void {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) }
}
