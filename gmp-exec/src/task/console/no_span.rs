//! In place of `span`, without the feature `tracing`.

use std::panic::Location;

use crate::task::blocking::Closure;
use crate::task::cell::header::Header;

pub(crate) type Spanned<F> = F;

#[derive(Debug, Default)]
pub(in crate::task) struct SpanId {}

#[inline]
pub(in crate::task) fn of_task<F>(_: &mut Header, future: F, _: usize) -> Spanned<F> {
    future
}

#[inline]
pub(in crate::task) fn of_closure<F>(_: &mut Header, future: Closure<F>, _: usize) -> Spanned<Closure<F>> {
    future
}

#[inline]
pub(crate) fn of_block_on<F>(future: F, _: &Location<'_>) -> Spanned<F> {
    future
}
