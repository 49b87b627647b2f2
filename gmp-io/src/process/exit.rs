//! Noticing the exit of a child.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{self, ExitStatus};
use std::sync::Arc;
use std::task::{Context, Poll};

use gmp_exec::bridge::filter_has_come;

use crate::io::Interest;
use crate::reactor::{Direction, Evented, Reactor, shutdown_error};
use crate::signal::unix::{Signal, SignalKind, signal};
use crate::sys;

#[derive(Debug)]
pub(super) enum Exit {
    /// A descriptor that becomes readable when the child exits.
    Descriptor(Evented<OwnedFd>),
    /// SIGCHLD: some child has exited, maybe this one.
    Signals { signal: Signal, home: Arc<Reactor> },
}

/// Makes the descriptors that [`Exit::of`] may need when there are none left. A filter of system calls
/// that has come may not know how they are made, so then they are made when they are needed.
pub(super) fn prepare(reactor: &Reactor) -> io::Result<()> {
    if filter_has_come() { Ok(()) } else { reactor.watch_signals() }
}

impl Exit {
    /// Watches a child that has not been waited for, from the current runtime.
    pub(super) fn of(pid: u32) -> io::Result<Self> {
        let descriptor = sys::exit_descriptor(pid).and_then(|fd| Evented::with_interest(fd, Interest::READABLE).ok());
        match descriptor {
            Some(descriptor) => Ok(Exit::Descriptor(descriptor)),
            None => Ok(Exit::Signals { signal: signal(SignalKind::child())?, home: Reactor::current()? }),
        }
    }

    /// The child's status, once it has exited. Moves to the current runtime if its own runtime is
    /// gone.
    pub(super) fn poll(&mut self, child: &mut process::Child, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        loop {
            let result = self.poll_here(child, cx);
            let gone = self.is_shut_down() && !matches!(result, Poll::Ready(Ok(_)));
            if !gone {
                return result;
            }
            if let Some(status) = child.try_wait()? {
                return Poll::Ready(Ok(status));
            }
            self.move_here(child.id())?;
        }
    }

    fn poll_here(&mut self, child: &mut process::Child, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        match self {
            Exit::Descriptor(descriptor) => descriptor
                .poll_io(cx, Direction::Read, |_| child.try_wait()?.ok_or_else(|| io::ErrorKind::WouldBlock.into())),
            Exit::Signals { signal, .. } => poll_with_signals(signal, child, cx),
        }
    }

    fn is_shut_down(&self) -> bool {
        match self {
            Exit::Descriptor(descriptor) => descriptor.registration().is_shut_down(),
            Exit::Signals { home, .. } => home.is_shut_down(),
        }
    }

    fn move_here(&mut self, pid: u32) -> io::Result<()> {
        match Reactor::try_current() {
            Some(reactor) => prepare(&*reactor?)?,
            None => return Err(shutdown_error()),
        }
        *self = Exit::of(pid)?;
        Ok(())
    }
}

/// The waker is stored first and the child is asked second: an exit in between causes a needless
/// wake-up, but no exit is missed.
fn poll_with_signals(
    signal: &mut Signal,
    child: &mut process::Child,
    cx: &mut Context<'_>,
) -> Poll<io::Result<ExitStatus>> {
    loop {
        let waits = signal.poll_recv(cx).is_pending();
        if let Some(status) = child.try_wait()? {
            return Poll::Ready(Ok(status));
        }
        if waits {
            return Poll::Pending;
        }
    }
}
