//! In place of `waker_events`, without the feature `tracing`.

use std::task::{RawWakerVTable, Waker};

use super::span::SpanId;

#[derive(Debug, Default)]
pub(super) struct WakerEvents {}

impl WakerEvents {
    pub(super) fn of(_: &SpanId) -> WakerEvents {
        WakerEvents {}
    }

    pub(super) fn table(&self, silent: &'static RawWakerVTable) -> &'static RawWakerVTable {
        silent
    }
}

#[inline]
pub(super) fn is_loud(_: &'static RawWakerVTable) -> bool {
    false
}

#[inline]
pub(crate) fn wake_yielding(waker: &Waker) {
    waker.wake_by_ref();
}

#[inline]
pub(super) fn end_poll(_: &Waker) {}
