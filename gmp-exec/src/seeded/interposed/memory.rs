//! `malloc`: a place inside polls where another thread may go on.

use std::ffi::c_void;

use crate::seeded::decisions::Kind;
use crate::seeded::edge;

unsafe extern "C" {
    /// glibc: its `malloc`, under a name that nobody replaces.
    fn __libc_malloc(size: usize) -> *mut c_void;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    edge::pass(Kind::Edge);
    // SAFETY: the caller vouches for the argument.
    unsafe { __libc_malloc(size) }
}
