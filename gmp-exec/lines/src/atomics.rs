//! std's atomics, recorded.

pub use std::sync::atomic::fence;
use std::sync::atomic::{self, Ordering};

use super::caches::Access::{self, Read, Write};
use super::{recorder, step};

#[track_caller]
fn touch<T>(word: &T, access: Access) {
    step();
    recorder::touch(std::ptr::from_ref(word).addr(), size_of::<T>(), access);
}

/// An atomic type. All that write are recorded as writes, also
/// a `compare_exchange` that fails: the core asks for the only copy before it compares.
macro_rules! atomic {
    ($(<$T:ident>)? $name:ident of $value:ty: $($method:ident($($argument:ident),*))*) => {
        /// std's, recorded.
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name $(<$T>)? (atomic::$name $(<$T>)?);

        impl $(<$T>)? Default for $name $(<$T>)? {
            fn default() -> Self {
                Self(Default::default())
            }
        }

        impl $(<$T>)? $name $(<$T>)? {
            /// As std's.
            pub const fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            /// As std's. Not recorded: no other thread has the word.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// A read.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                touch(self, Read);
                self.0.load(order)
            }

            /// A write.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                touch(self, Write);
                self.0.store(value, order);
            }

            $(
                /// A write.
                #[track_caller]
                pub fn $method(&self, $($argument: atomic!(@$argument $value)),*) -> atomic!(@of $method $value) {
                    touch(self, Write);
                    self.0.$method($($argument),*)
                }
            )*
        }
    };
    (@order $value:ty) => { Ordering };
    (@success $value:ty) => { Ordering };
    (@failure $value:ty) => { Ordering };
    (@$argument:ident $value:ty) => { $value };
    (@of compare_exchange $value:ty) => { Result<$value, $value> };
    (@of compare_exchange_weak $value:ty) => { Result<$value, $value> };
    (@of $method:ident $value:ty) => { $value };
}

/// The methods that integers have.
macro_rules! integer {
    ($($name:ident of $value:ty),*) => { $(
        atomic!($name of $value:
            swap(value, order)
            compare_exchange(current, new, success, failure)
            compare_exchange_weak(current, new, success, failure)
            fetch_add(value, order)
            fetch_sub(value, order)
            fetch_and(value, order)
            fetch_or(value, order)
            fetch_xor(value, order)
            fetch_max(value, order));

        impl $name {
            /// A read, and a write for each attempt.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                update: impl Fn($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut value = self.load(fetch);
                while let Some(next) = update(value) {
                    match self.compare_exchange_weak(value, next, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(now) => value = now,
                    }
                }
                Err(value)
            }
        }
    )* };
}

integer!(AtomicI64 of i64, AtomicU8 of u8, AtomicU16 of u16, AtomicU32 of u32, AtomicU64 of u64, AtomicUsize of usize);
atomic!(AtomicBool of bool:
    swap(value, order)
    compare_exchange(current, new, success, failure)
    compare_exchange_weak(current, new, success, failure));
atomic!(<T> AtomicPtr of *mut T: swap(value, order) compare_exchange(current, new, success, failure));
