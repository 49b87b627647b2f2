//! A task's side of a registered descriptor: try, else wait, else try again.

use std::future::poll_fn;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gmp_exec::task::coop;
use mio::Token;

use super::Reactor;
use super::readiness::ReadyEvent;
use super::source::Source;
use crate::io::{Interest, Ready};

/// A descriptor's place in the current runtime's reactor. Dropping it gives the place up.
#[derive(Debug)]
pub(crate) struct Registration {
    reactor: Arc<Reactor>,
    source: Arc<Source>,
    token: Token,
    /// Open, and the same descriptor, for as long as this exists: [`Evented`](super::Evented) owns both, and drops this first.
    fd: RawFd,
    /// What `WouldBlock` does not refute. "Closed" as a rule; less for what [`Evented`](super::Evented) says can reopen.
    pub(super) lasting: Ready,
}

/// The two directions that have a place of their own for a `poll_*` method's waker.
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

/// How an operation that did not fail came out.
pub(crate) enum Attempt<R> {
    /// It did something; there may be more to do.
    Done(R),
    /// It did something, and did less than it could have: there is nothing left to do until the next event. Saves the
    /// system call that would only find `WouldBlock`. The system must report events as edges for this to be true.
    Drained(R),
}

impl Registration {
    /// Registers `fd` with the runtime that is current on this thread. Nothing beyond `interest` will ever be reported,
    /// except errors and, on Linux, that the peer has gone.
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

    /// Whether there won't be any more events.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.source.look(Interest::READABLE).is_shutdown()
    }

    /// Gives the place up and says whether the system agreed.
    pub(crate) fn deregister(self) -> io::Result<()> {
        self.reactor.deregister(self.token, self.fd)
    }

    /// Takes the descriptor for ready before the first event has come, where that is likely: an accepted socket is writable
    /// and often has the first request in it. Saves one round through the reactor; a wrong guess costs one `WouldBlock`.
    pub(crate) fn assume_ready(&self, ready: Ready) {
        self.source.assume_ready(ready);
    }

    /// Whether it is known that there won't be anything more to read.
    pub(crate) fn is_read_closed(&self) -> bool {
        self.source.look(Interest::READABLE).ready.is_read_closed()
    }

    /// Takes away the readiness that `event` saw, unless there has been a newer event.
    pub(crate) fn clear(&self, event: ReadyEvent) {
        self.source.clear(event);
    }

    /// Waits until the direction is ready. Consumes budget, as on tokio.
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<io::Result<ReadyEvent>> {
        let coop = ready!(coop::poll_proceed(cx));
        let event = ready!(self.source.poll_ready(cx, direction));
        if event.is_shutdown() {
            return Poll::Ready(Err(shutdown_error()));
        }
        coop.made_progress();
        Poll::Ready(Ok(event))
    }

    /// Runs `operation` as often as it takes, waiting in the direction's place.
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

    /// Runs `operation` as often as it takes, waiting beside any number of others.
    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        let mut operation = || operation().map(Attempt::Done);
        loop {
            let event = self.readiness(interest).await?;
            // A unit is taken for a vain attempt, too: what is closed stays ready, and one poll must not try for ever.
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

    /// Waits until the descriptor is ready for part of `interest`. Consumes no budget, as on tokio: what follows does.
    pub(crate) async fn readiness(&self, interest: Interest) -> io::Result<ReadyEvent> {
        let event = self.source.wait(interest).await;
        if event.is_shutdown() { Err(shutdown_error()) } else { Ok(event) }
    }

    /// The step that all of the above share. `None`: the descriptor was not ready after all, and is now known not to be.
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
        // A task that waits for a descriptor it owns would otherwise keep itself alive.
        self.source.clear_slots();
        // Closing the descriptor deregisters it as well; nobody could do anything about an error.
        let _ = self.reactor.deregister(self.token, self.fd);
    }
}

/// tokio's error for I/O on a runtime that is gone; its text is what `is_rt_shutdown_err` looks for.
pub(crate) fn shutdown_error() -> io::Error {
    io::Error::other("A Tokio 1.x context was found, but it is being shutdown.")
}
