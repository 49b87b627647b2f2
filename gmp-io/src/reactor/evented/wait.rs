//! Waiting for readiness, and operations that a caller brings along.

use std::future::Future;
use std::io;
use std::task::{Context, Poll};

use super::Evented;
use crate::io::{Interest, Ready};
use crate::reactor::{Attempt, Direction};

impl<T> Evented<T> {
    /// Waits until the descriptor is ready for part of `interest`, and says for which.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        Ok(self.registration.readiness(interest).await?.ready)
    }

    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.registration.readiness(Interest::READABLE).await.map(drop)
    }

    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.registration.readiness(Interest::WRITABLE).await.map(drop)
    }

    pub(crate) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_ready(cx, Direction::Read).map_ok(drop)
    }

    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_ready(cx, Direction::Write).map_ok(drop)
    }

    /// Runs `operation` once, if the descriptor is thought to be ready for part of `interest`.
    pub(crate) fn try_io<R>(&self, interest: Interest, operation: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.try_io(interest, || operation(&self.io))
    }

    /// Runs `operation` until it finds the descriptor ready. Any number of tasks may wait.
    pub(crate) fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        self.registration.async_io(interest, move || operation(&self.io))
    }

    /// Runs `operation` until it finds the descriptor ready. Of several tasks that poll in one
    /// direction, the last one is woken.
    pub(crate) fn poll_io<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.registration.poll_io(cx, direction, || operation(&self.io).map(Attempt::Done))
    }
}
