//! In place of tokio's module `loom`: what tokio's scheduler takes from the standard library, as
//! gmp-lines records it.

mod arc;
mod atomics;
pub(crate) mod cell;
mod lock;

pub(crate) mod hint {
    pub(crate) use gmp_lines::hint::spin_loop;
}

pub(crate) mod rand {
    /// The same in each run.
    pub(crate) fn seed() -> u64 {
        gmp_lines::ids::reserve(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

pub(crate) mod sync {
    pub(crate) use gmp_lines::sync::{Condvar, MutexGuard};

    pub(crate) use super::arc::Arc;
    pub(crate) use super::lock::Mutex;

    pub(crate) mod atomic {
        pub(crate) use gmp_lines::sync::atomic::{AtomicBool, AtomicPtr};
        pub(crate) use std::sync::atomic::Ordering;

        pub(crate) use super::super::atomics::{AtomicU32, AtomicU64, AtomicUsize, IdCounter};
    }
}

pub(crate) mod sys {
    pub(crate) fn num_cpus() -> usize {
        1
    }
}

pub(crate) mod thread {
    pub(crate) use gmp_lines::thread::*;
}
