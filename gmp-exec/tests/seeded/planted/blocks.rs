//! What only an interruption between two basic blocks finds. In programs that `cargo gmp test --preempt` has
//! built, the compiler puts the call there.
#![allow(unsafe_code, reason = "calls what the compiler calls")]

use std::sync::atomic::Ordering::*;

use super::threads::two_threads;

unsafe extern "C" {
    safe fn __sanitizer_cov_trace_pc_guard(number: *mut u32);
}

/// As of a loop between the two steps.
const BLOCKS: usize = 30;

pub(crate) fn update_between_blocks() {
    two_threads(|value| async move {
        let sum = value.load(SeqCst) + 1;
        (0..BLOCKS).for_each(|_| __sanitizer_cov_trace_pc_guard(std::ptr::null_mut()));
        value.store(sum, SeqCst);
    });
}
