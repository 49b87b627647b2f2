//! std's atomics, recorded.

pub(crate) use std::sync::atomic::fence;
use std::sync::atomic::{self, Ordering};

use super::caches::Access::{self, Read, Write};
use super::{recorder, step};

#[track_caller]
fn touch<T>(word: &T, access: Access) {
    step();
    recorder::touch(std::ptr::from_ref(word).addr(), size_of::<T>(), access);
}

/// An atomic type with the methods that gmp-exec uses. All that write are recorded as writes, also
/// a `compare_exchange` that fails: the core asks for the only copy before it compares.
macro_rules! atomic {
    ($(<$T:ident>)? $name:ident of $value:ty: $($method:ident($($argument:ident),*))*) => {
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub(crate) struct $name $(<$T>)? (atomic::$name $(<$T>)?);

        impl $(<$T>)? $name $(<$T>)? {
            pub(crate) const fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                touch(self, Read);
                self.0.load(order)
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                touch(self, Write);
                self.0.store(value, order);
            }

            $(
                #[track_caller]
                pub(crate) fn $method(&self, $($argument: atomic!(@$argument $value)),*) -> atomic!(@of $method $value) {
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

atomic!(AtomicBool of bool: swap(value, order));
atomic!(AtomicI64 of i64:);
atomic!(AtomicU8 of u8:
    swap(value, order)
    compare_exchange(current, new, success, failure)
    fetch_and(value, order)
    fetch_or(value, order));
atomic!(AtomicU16 of u16:
    compare_exchange(current, new, success, failure)
    fetch_and(value, order)
    fetch_or(value, order));
atomic!(AtomicU32 of u32:
    swap(value, order)
    compare_exchange(current, new, success, failure)
    compare_exchange_weak(current, new, success, failure));
atomic!(AtomicU64 of u64:
    swap(value, order)
    compare_exchange(current, new, success, failure)
    compare_exchange_weak(current, new, success, failure)
    fetch_add(value, order)
    fetch_sub(value, order)
    fetch_and(value, order)
    fetch_or(value, order)
    fetch_max(value, order));
atomic!(AtomicUsize of usize:
    compare_exchange_weak(current, new, success, failure)
    fetch_add(value, order)
    fetch_sub(value, order)
    fetch_and(value, order)
    fetch_or(value, order));
atomic!(<T> AtomicPtr of *mut T: swap(value, order) compare_exchange(current, new, success, failure));
