//! Atomics with the methods that tokio adds to std's.

use std::ops::Deref;
use std::sync::atomic::Ordering::{self, Relaxed};

use gmp_lines::sync::atomic;
pub(crate) use gmp_lines::sync::atomic::AtomicU64;

macro_rules! with_unsync_load {
    ($name:ident of $value:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name(atomic::$name);

        impl $name {
            pub(crate) const fn new(value: $value) -> $name {
                $name(atomic::$name::new(value))
            }

            /// A read as any other, and so safe; `unsafe` because tokio's is.
            #[track_caller]
            pub(crate) unsafe fn unsync_load(&self) -> $value {
                self.0.load(Relaxed)
            }
        }

        impl Deref for $name {
            type Target = atomic::$name;

            fn deref(&self) -> &atomic::$name {
                &self.0
            }
        }
    };
}

with_unsync_load!(AtomicU32 of u32);
with_unsync_load!(AtomicUsize of usize);

impl AtomicUsize {
    pub(crate) fn with_mut<R>(&mut self, f: impl FnOnce(&mut usize) -> R) -> R {
        f(self.0.get_mut())
    }
}

/// In place of the counter of task ids, which is a static: one for each run.
#[derive(Debug)]
pub(crate) struct IdCounter;

impl IdCounter {
    pub(crate) const fn new(_first: u64) -> IdCounter {
        IdCounter
    }

    #[track_caller]
    pub(crate) fn fetch_add(&self, ids: u64, _: Ordering) -> u64 {
        gmp_lines::ids::reserve(ids)
    }
}
