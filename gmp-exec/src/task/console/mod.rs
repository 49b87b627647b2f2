//! What tokio-console shows of tasks (feature `tracing`).

#[cfg(feature = "tracing")]
pub(in crate::task) mod span;
#[cfg(not(feature = "tracing"))]
#[path = "no_span.rs"]
pub(in crate::task) mod span;
#[cfg(feature = "tracing")]
pub(in crate::task) mod waker_events;
#[cfg(not(feature = "tracing"))]
#[path = "no_waker_events.rs"]
pub(in crate::task) mod waker_events;
