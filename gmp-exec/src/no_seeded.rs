//! There are no seeded runs in this build: they belong to the feature `seeded`, and to Linux with
//! glibc. The compiler removes all calls.

use std::ffi::c_void;
use std::panic::Location;
use std::task::Waker;

pub(crate) const fn is_on() -> bool {
    false
}

pub(crate) const fn keeps_order() -> bool {
    false
}

pub(crate) const fn root_goes_last(_: u64, _: bool) -> bool {
    false
}

pub(crate) const fn pick_task(_: &[(u64, &Location<'_>)]) -> usize {
    0
}

pub(crate) const fn shuffle<T>(_: &mut [T]) {}

pub(crate) const fn pause() {}

pub(crate) const fn wait_for_packet() -> bool {
    false
}

pub(crate) const fn must_yield() -> bool {
    false
}

pub(crate) const fn set_dump(_: fn() -> (usize, String)) {}

pub(crate) const fn set_place(_: fn(*const c_void) -> String) {}

pub(crate) const fn note_root(_: &Waker) {}

pub(crate) const fn is_root(_: &Waker) -> bool {
    false
}
