//! The spans that tokio-console shows as tasks (feature `tracing`): tokio 1.54.1's names, targets
//! and fields.
//!
//! The future is wrapped before it becomes a task. So the span is entered in each poll, and once
//! more when the future is dropped, which closes the span. A task whose span no subscriber wants
//! has no span id, and its wakers emit no events (`waker_events`).

use std::any::type_name;
use std::fmt;
use std::panic::Location;

use tracing::instrument::{Instrument, Instrumented};
use tracing::trace_span;

use crate::task::Id;
use crate::task::blocking::Closure;
use crate::task::cell::future::TaskFuture;
use crate::task::cell::header::Header;
use crate::task::cell::home::Home;

/// A future in its span.
pub(crate) type Spanned<F> = Instrumented<F>;

/// The id of a task's span, if there is one.
#[derive(Debug, Default)]
pub(in crate::task) struct SpanId(Option<tracing::Id>);

impl SpanId {
    pub(in crate::task) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    pub(in crate::task) fn as_u64(&self) -> Option<u64> {
        self.0.as_ref().map(tracing::Id::into_u64)
    }
}

/// `given`: the size of the future that was spawned, which may be in a box by now.
pub(in crate::task) fn of_task<F>(header: &mut Header, future: F, given: usize) -> Spanned<F> {
    let (size, original_size) = sizes::<F>(given);
    let span = trace_span!(
        target: "tokio::task",
        parent: None,
        "runtime.spawn",
        kind = %kind(header),
        task.name = %Name::of(header),
        task.id = header.id.as_u64(),
        original_size.bytes = original_size,
        size.bytes = size,
        loc.file = header.location.file(),
        loc.line = header.location.line(),
        loc.col = header.location.column(),
    );
    header.observe_span(SpanId(span.id()));
    future.instrument(span)
}

/// No waker belongs to a closure, so the header needn't know the span.
pub(in crate::task) fn of_closure<F>(header: &mut Header, future: Closure<F>, given: usize) -> Spanned<Closure<F>> {
    let (size, original_size) = sizes::<F>(given);
    let span = trace_span!(
        target: "tokio::task::blocking",
        "runtime.spawn",
        kind = %"blocking",
        task.name = %Name::of(header),
        task.id = header.id.as_u64(),
        "fn" = %type_name::<F>(),
        original_size.bytes = original_size,
        size.bytes = size,
        loc.file = header.location.file(),
        loc.line = header.location.line(),
        loc.col = header.location.column(),
    );
    future.instrument(span)
}

pub(crate) fn of_block_on<F>(future: F, location: &Location<'_>) -> Spanned<F> {
    let span = trace_span!(
        target: "tokio::task",
        parent: None,
        "runtime.spawn",
        kind = %"block_on",
        task.name = %"",
        task.id = Id::next().as_u64(),
        original_size.bytes = None::<usize>,
        size.bytes = size_of::<F>(),
        loc.file = location.file(),
        loc.line = location.line(),
        loc.col = location.column(),
    );
    future.instrument(span)
}

fn kind(header: &Header) -> &'static str {
    match &*header.home {
        Home::Local(home) if !home.is_of_runtime() => "local",
        _ => "task",
    }
}

/// From so many bytes on, async-task moves a future to the heap.
const BOXED_FROM: usize = 2048;

/// The size of what is kept in the task, and the original size if that is a box.
fn sizes<F>(given: usize) -> (usize, Option<usize>) {
    let is_boxed = given > size_of::<F>() || size_of::<TaskFuture<Spanned<F>>>() >= BOXED_FROM;
    if is_boxed { (size_of::<Box<F>>(), Some(given)) } else { (given, None) }
}

/// The name of a task, or nothing.
struct Name(Option<Box<str>>);

impl Name {
    fn of(header: &Header) -> Name {
        Name(header.name())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or_default())
    }
}
