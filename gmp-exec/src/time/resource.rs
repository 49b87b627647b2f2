//! The spans and events by which tokio-console shows sleeps and intervals as resources (feature
//! `tracing`): tokio 1.54.1's.
//!
//! tokio's interval has a sleep in it, which the console shows as another resource. gmp's has none.

use std::fmt;
use std::panic::{AssertUnwindSafe, Location};
use std::task::Poll;

use tracing::{Span, trace, trace_span};

use super::Instant;
use crate::task::coop;

/// A sleep, while a subscriber wants its span. The `AssertUnwindSafe`: a span may hold any
/// subscriber, and features must not take auto traits away from public types.
pub(super) struct SleepResource(Option<AssertUnwindSafe<Box<Operation>>>);

/// An interval: its span.
pub(super) struct IntervalResource(AssertUnwindSafe<Span>);

/// What a resource is asked to do. The fields are closed in this order.
struct Operation {
    operation: Span,
    poll: Span,
    resource: Span,
    /// Whether the deadline has been reported.
    is_set: bool,
}

/// A wait for a tick.
pub(super) struct Tick(Operation);

/// A macro, because the name of a span's source is a constant of its place.
macro_rules! resource {
    ($target:literal, $name:literal, $location:expr) => {
        trace_span!(
            target: $target,
            parent: None,
            "runtime.resource",
            concrete_type = $name,
            kind = "timer",
            loc.file = $location.file(),
            loc.line = $location.line(),
            loc.col = $location.column(),
        )
    };
}

impl SleepResource {
    #[track_caller]
    pub(super) fn new() -> SleepResource {
        let location = Location::caller();
        let resource = resource!("tokio::time::sleep", "Sleep", location);
        if resource.is_disabled() {
            return SleepResource(None);
        }
        let operation = trace_span!(
            target: "tokio::time::sleep",
            parent: &resource,
            "runtime.resource.async_op",
            source = "Sleep::new_timeout",
        );
        let poll = trace_span!(target: "tokio::time::sleep", parent: &operation, "runtime.resource.async_op.poll");
        SleepResource(Some(AssertUnwindSafe(Box::new(Operation { operation, poll, resource, is_set: false }))))
    }

    /// The sleep has a new deadline.
    pub(super) fn reset(&mut self, deadline: Instant) {
        let Some(sleep) = &mut self.0 else { return };
        let sleep = &mut ***sleep;
        let _resource = sleep.resource.enter();
        sleep.operation =
            trace_span!(target: "tokio::time::sleep", "runtime.resource.async_op", source = "Sleep::reset");
        let _operation = sleep.operation.enter();
        sleep.poll = trace_span!(target: "tokio::time::sleep", "runtime.resource.async_op.poll");
        sleep.is_set = true;
        report_duration(deadline);
    }

    /// The sleep is polled by `poll`.
    pub(super) fn poll(&mut self, deadline: Instant, poll: impl FnOnce() -> Poll<()>) -> Poll<()> {
        let Some(sleep) = &mut self.0 else { return poll() };
        let sleep = &mut ***sleep;
        let is_first = !std::mem::replace(&mut sleep.is_set, true);
        sleep.enter(|| {
            if coop::has_budget_remaining() {
                report_poll("poll_elapsed", true);
                if is_first {
                    report_duration(deadline);
                }
            }
            let polled = poll();
            report_poll("poll_elapsed", polled.is_ready());
            polled
        })
    }
}

impl IntervalResource {
    #[track_caller]
    pub(super) fn new() -> IntervalResource {
        let location = Location::caller();
        IntervalResource(AssertUnwindSafe(resource!("tokio::time::interval", "Interval", location)))
    }

    pub(super) fn tick(&self) -> Tick {
        let resource = (*self.0).clone();
        let entered = resource.enter();
        let operation = trace_span!(
            target: "tokio::util::trace",
            "runtime.resource.async_op",
            source = "Interval::tick",
            inherits_child_attrs = false,
        );
        let poll = operation.in_scope(|| trace_span!(target: "tokio::util::trace", "runtime.resource.async_op.poll"));
        drop(entered);
        Tick(Operation { operation, poll, resource, is_set: true })
    }
}

impl Tick {
    pub(super) fn poll<T>(&self, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
        self.0.enter(|| {
            let polled = poll();
            report_poll("poll_tick", polled.is_ready());
            polled
        })
    }
}

impl Operation {
    fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        let _resource = self.resource.enter();
        let _operation = self.operation.enter();
        let _poll = self.poll.enter();
        f()
    }
}

fn report_poll(op_name: &'static str, is_ready: bool) {
    trace!(target: "runtime::resource::poll_op", op_name, is_ready);
}

fn report_duration(deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    trace!(
        target: "runtime::resource::state_update",
        duration = left.as_nanos().div_ceil(1_000_000) as u64,
        duration.unit = "ms",
        duration.op = "override",
    );
}

impl fmt::Debug for SleepResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SleepResource").finish_non_exhaustive()
    }
}

impl fmt::Debug for IntervalResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalResource").finish_non_exhaustive()
    }
}
