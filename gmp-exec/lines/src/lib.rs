//! Counts the cache lines that change hands in an executor (`--cfg gmp_lines`).
//!
//! The executor runs with the atomics, locks and parking of this crate, as threads of shuttle. The
//! count is right only if the lines are those of production. So every atomic here is std's own, and
//! so is the lock: shuttle's are larger. That is sound because shuttle runs all its threads on one
//! real thread. Each operation
//!
//! 1. lets another thread go on (`step`), as each access of a real core can come before or after
//!    those of the others;
//! 2. records the line, the thread and whether it writes (`recorder`);
//! 3. does std's operation.
//!
//! Not recorded, because it does not pass through this crate: plain reads and writes (fields that
//! never change, the memory behind a `Vec`), counts of `Arc`s that are not `CountedArc`s,
//! `OnceLock`s, and the kernel.
//!
//! `scenarios` are the programs that are counted. An executor implements `Subject`, and
//! `budget` or `report` compares the counts with a committed table.
#![cfg(gmp_lines)]

pub mod arc;
mod atomics;
mod blocks;
mod budget;
mod caches;
mod heap;
pub mod ids;
mod jobs;
mod lock;
mod meeting;
pub mod park;
mod places;
pub mod recorder;
mod scenarios;
mod stage;
mod subject;
mod table;
mod turns;
mod waiting;

use std::time::Duration;

pub use budget::{budget, report};
pub use jobs::{prepare, run};
pub use scenarios::{Scenario, scenario};
pub use stage::Count;
pub use subject::Subject;

#[cfg(test)]
mod faults;

/// The same names as in std, so that an executor can choose.
pub mod sync {
    pub use super::lock::{Condvar, Mutex, MutexGuard, NeverTimedOut};

    /// Atomics that are recorded.
    pub mod atomic {
        pub use super::super::atomics::{
            AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
    }
}

/// Threads of shuttle.
pub mod thread {
    pub use shuttle::thread::*;
}

/// Thread-locals of shuttle's threads.
pub use shuttle::thread_local;

/// A hint that shuttle sees.
pub mod hint {
    pub use shuttle::hint::spin_loop;
}

/// Begins a run on this real thread. Runs with the same seed are the same.
fn start(seed: u64) {
    recorder::clear();
    ids::reset();
    heap::seed(seed);
}

/// From now on this thread of shuttle runs.
fn switch_to(thread: usize) {
    recorder::switch_to(thread);
    waiting::switch_to(thread);
}

/// Lets another thread go on.
fn step() {
    // A context switch without a wake-up of the own task, which `yield_now` would add.
    shuttle::thread::sleep(Duration::ZERO);
}
