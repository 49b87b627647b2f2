//! In place of `resource`, without the feature `tracing`.

use std::task::Poll;

use super::Instant;

#[derive(Debug)]
pub(super) struct SleepResource {}

#[derive(Debug)]
pub(super) struct IntervalResource {}

pub(super) struct Tick {}

impl SleepResource {
    #[inline]
    pub(super) fn new() -> SleepResource {
        SleepResource {}
    }

    #[inline]
    pub(super) fn reset(&mut self, _: Instant) {}

    #[inline]
    pub(super) fn poll(&mut self, _: Instant, poll: impl FnOnce() -> Poll<()>) -> Poll<()> {
        poll()
    }
}

impl IntervalResource {
    #[inline]
    pub(super) fn new() -> IntervalResource {
        IntervalResource {}
    }

    #[inline]
    pub(super) fn tick(&self) -> Tick {
        Tick {}
    }
}

impl Tick {
    #[inline]
    pub(super) fn poll<T>(&self, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
        poll()
    }
}
