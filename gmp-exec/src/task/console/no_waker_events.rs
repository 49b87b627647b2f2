//! In place of `waker_events`, without the feature `tracing`.

use std::task::{RawWakerVTable, Waker};

use crate::task::console::span::SpanId;

#[derive(Debug, Default)]
pub(in crate::task) struct WakerEvents {}

impl WakerEvents {
    pub(in crate::task) fn of(_: &SpanId) -> WakerEvents {
        WakerEvents {}
    }

    pub(in crate::task) fn table(&self, silent: &'static RawWakerVTable) -> &'static RawWakerVTable {
        silent
    }
}

#[inline]
pub(in crate::task) fn is_loud(_: &'static RawWakerVTable) -> bool {
    false
}

#[inline]
pub(crate) fn wake_yielding(waker: &Waker) {
    waker.wake_by_ref();
}

#[inline]
pub(in crate::task) fn end_poll(_: &Waker) {}
