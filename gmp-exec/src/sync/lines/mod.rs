//! Atomics, locks and parking that record which cache lines they touch (`--cfg gmp_lines`).
//!
//! `sched/tests/lines` runs the real scheduler with these, as threads of shuttle, and counts how
//! often a line must come from another core. The count is right only if the lines are those of
//! production. So every atomic here is std's own, and so is the lock: shuttle's are larger. That is
//! sound because shuttle runs all its threads on one real thread. Each operation
//!
//! 1. lets another thread go on ([`step`]), as each access of a real core can come before or after
//!    those of the others;
//! 2. records the line, the thread and whether it writes ([`recorder`]);
//! 3. does std's operation.
//!
//! Not recorded, because it does not pass through `crate::sync`: plain reads and writes (fields
//! that never change, the memory behind a `Vec`), the state words of async-task, the counts of
//! `Arc` other than [`CountedArc`](super::CountedArc), event-listener, std's own locks in
//! `Processor::holder`, `OnceLock`s, and the kernel.

pub(crate) mod arc;
mod atomics;
mod blocks;
mod caches;
mod heap;
pub(crate) mod ids;
pub(crate) mod lock;
pub(crate) mod park;
pub(crate) mod recorder;
pub(crate) mod waiting;

use std::time::Duration;

/// The same names as in std, so that `crate::sync` can choose.
pub(crate) mod sync {
    pub(crate) use super::lock::{Condvar, Mutex, MutexGuard};

    pub(crate) mod atomic {
        pub(crate) use super::super::atomics::{
            AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
    }
}

pub(crate) mod hint {
    pub(crate) use shuttle::hint::spin_loop;
}

pub(crate) mod thread {
    pub(crate) use shuttle::thread::{Builder, JoinHandle, yield_now};
}

/// Begins a run on this real thread. Runs with the same seed are the same.
pub(crate) fn start(seed: u64) {
    recorder::clear();
    ids::reset();
    heap::seed(seed);
}

/// From now on this thread of shuttle runs.
pub(crate) fn switch_to(thread: usize) {
    recorder::switch_to(thread);
    waiting::switch_to(thread);
}

/// Lets another thread go on.
fn step() {
    // A context switch without a wake-up of the own task, which `yield_now` would add.
    shuttle::thread::sleep(Duration::ZERO);
}
