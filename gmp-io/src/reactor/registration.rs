//! A task's side of a registered descriptor: try, wait if needed, try again.

use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::RawFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gmp_exec::bridge;
use gmp_exec::task::coop;
use mio::Token;

use super::Reactor;
use super::readiness::ReadyEvent;
use super::source::Source;
use crate::io::{Interest, Ready};

/// A descriptor's registration with the current runtime's reactor. Dropping it deregisters the
/// descriptor.
#[derive(Debug)]
pub(crate) struct Registration {
    reactor: Arc<Reactor>,
    source: Arc<Source>,
    token: Token,
    /// Open, and the same descriptor, for as long as the registration exists:
    /// [`Evented`](super::Evented) owns both and drops the registration first.
    fd: RawFd,
    /// The flags that stay set when an operation finds `WouldBlock`: "closed" in general, fewer for
    /// a descriptor that [`Evented`](super::Evented) knows to reopen.
    pub(super) lasting: Ready,
}

/// The two directions, each of which has a slot for the waker of a `poll_*` method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    /// The flags that end a wait in this direction.
    pub(super) fn mask(self) -> Ready {
        match self {
            Direction::Read => Ready::that_satisfy(Interest::READABLE),
            Direction::Write => Ready::that_satisfy(Interest::WRITABLE),
        }
    }
}

/// The result of an operation that succeeded.
pub(crate) enum Attempt<R> {
    /// There may be more to do.
    Done(R),
    /// There is nothing left to do until the next event. Saves the system call that would only find
    /// `WouldBlock`. This is only correct where the system reports events as edges.
    Drained(R),
}

impl Registration {
    /// Registers `fd` with the runtime that is current on this thread. Only events in `interest`
    /// are reported, except that errors are always reported, and on Linux also that the peer has
    /// gone.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled: with tokio's messages.
    #[track_caller]
    pub(crate) fn with_current_runtime(fd: RawFd, interest: Interest) -> io::Result<Self> {
        Reactor::current()?.register(fd, interest)
    }

    pub(super) fn new(reactor: Arc<Reactor>, source: Arc<Source>, token: Token, fd: RawFd) -> Self {
        Registration { reactor, source, token, fd, lasting: Ready::CLOSED }
    }

    /// Whether the reactor has been shut down, so that no more events come.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.source.look(Interest::READABLE).is_shutdown()
    }

    /// Deregisters the descriptor. The error is the system's.
    pub(crate) fn deregister(self) -> io::Result<()> {
        self.reactor.deregister(self.token, self.fd)
    }

    /// Assumes that the descriptor is ready before the first event has come. For cases where that
    /// is likely: an accepted socket is writable and often has received the first request. Saves
    /// one round through the reactor; a wrong guess costs one `WouldBlock`.
    pub(crate) fn assume_ready(&self, ready: Ready) {
        self.source.assume_ready(ready);
    }

    /// Whether the end of the input has been reported.
    pub(crate) fn is_read_closed(&self) -> bool {
        self.source.look(Interest::READABLE).ready.is_read_closed()
    }

    /// Clears the readiness that `event` saw, unless a newer event has come.
    pub(crate) fn clear(&self, event: ReadyEvent) {
        self.source.clear(event);
    }

    /// Waits until the direction is ready. Consumes budget, as on tokio.
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<io::Result<ReadyEvent>> {
        let coop = ready!(coop::poll_proceed(cx));
        let polled = self.source.poll_ready(cx, direction);
        if polled.is_pending() {
            self.note_wait(direction.mask());
        }
        let event = ready!(polled);
        if event.is_shutdown() {
            return Poll::Ready(Err(shutdown_error()));
        }
        coop.made_progress();
        Poll::Ready(Ok(event))
    }

    /// Runs `operation` until it finds the descriptor ready. Waits in the direction's slot.
    pub(crate) fn poll_io<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut operation: impl FnMut() -> io::Result<Attempt<R>>,
    ) -> Poll<io::Result<R>> {
        loop {
            let event = ready!(self.poll_ready(cx, direction))?;
            if let Some(result) = self.attempt(event, &mut operation) {
                return Poll::Ready(result);
            }
        }
    }

    /// Runs `operation` until it finds the descriptor ready. Any number of tasks may wait.
    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        let mut operation = || operation().map(Attempt::Done);
        loop {
            let event = self.readiness(interest).await?;
            // An attempt that fails takes a unit too: a closed descriptor stays ready, and a poll
            // must not try without end.
            poll_fn(coop::poll_proceed).await.made_progress();
            if let Some(result) = self.attempt(event, &mut operation) {
                return result;
            }
        }
    }

    /// Runs `operation` once, if the descriptor is thought to be ready.
    pub(crate) fn try_io<R>(&self, interest: Interest, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let event = self.source.look(interest);
        if event.ready.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.attempt(event, || operation().map(Attempt::Done)).unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))
    }

    /// Waits until the descriptor is ready for part of `interest`. Consumes no budget, as on tokio:
    /// the operation that follows does.
    pub(crate) async fn readiness(&self, interest: Interest) -> io::Result<ReadyEvent> {
        let mut wait = pin!(self.source.wait(interest));
        let ready = poll_fn(|cx| {
            ready!(bridge::trace_leaf(cx));
            let polled = wait.as_mut().poll(cx);
            if polled.is_pending() {
                self.note_wait(Ready::that_satisfy(interest));
            }
            polled
        });
        let event = ready.await;
        if event.is_shutdown() { Err(shutdown_error()) } else { Ok(event) }
    }

    /// The running task waits for some of `mask`.
    fn note_wait(&self, mask: Ready) {
        if mask.is_readable() { bridge::wait_readable(self.fd) } else { bridge::wait_writable(self.fd) }
    }

    /// The step that all of the above share. `None`: the descriptor was not ready, and its
    /// readiness has been cleared.
    fn attempt<R>(
        &self,
        event: ReadyEvent,
        operation: impl FnOnce() -> io::Result<Attempt<R>>,
    ) -> Option<io::Result<R>> {
        match operation() {
            Ok(Attempt::Done(result)) => Some(Ok(result)),
            Ok(Attempt::Drained(result)) => {
                self.source.clear(event);
                Some(Ok(result))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.source.clear_except(event, self.lasting);
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Otherwise a task that waits for a descriptor that it owns would keep itself alive.
        self.source.clear_slots();
        // Closing the descriptor deregisters it as well, so an error changes nothing.
        let _ = self.reactor.deregister(self.token, self.fd);
    }
}

/// tokio's error for I/O on a runtime that is shut down. `is_rt_shutdown_err` looks for its text.
pub(crate) fn shutdown_error() -> io::Error {
    io::Error::other("A Tokio 1.x context was found, but it is being shutdown.")
}
