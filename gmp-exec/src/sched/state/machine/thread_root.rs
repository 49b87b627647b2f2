//! The function in which the thread of each machine begins. It is found by its address on a stack
//! that is being unwound (`blocked::stack`), in programs without names, too.

use std::hint::black_box;

/// Runs all that a machine does.
#[inline(never)]
pub(crate) fn run(body: &mut dyn FnMut()) {
    body();
    // Without something to do afterwards this frame would be gone by now.
    black_box(());
}

#[cfg_attr(
    not(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(dead_code, reason = "stacks are unwound there only")
)]
pub(crate) fn address() -> u64 {
    let root: fn(&mut dyn FnMut()) = run;
    root as usize as u64
}
