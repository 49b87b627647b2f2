//! The reactor: which descriptors are ready, and who waits for them.
//!
//! The scheduler wants one thread at most to sleep in the kernel, to be interrupted at any moment, and to be told about ready
//! tasks in batches; tasks want to wait for a descriptor without knowing about any of that. [`Reactor`] is what stands
//! between: the only implementor of [`Netpoll`], made when the first descriptor of a runtime is registered.
//!
//! Every descriptor is registered once, edge-triggered, for good. Its state lives in a [`Source`](source::Source), which the task's side
//! ([`Registration`]) and the reactor's side ([`Sources`]) share:
//!
//! ```text
//! task: operation → WouldBlock → clear readiness → leave a waker      Registration → Source
//! poll: kernel event → token → Source → set readiness → take wakers    Reactor → Sources → Source
//! ```
//!
//! Rejected: asking the kernel anew before each wait (one-shot or level-triggered epoll), because that is a system call per
//! wait where this is none; and pointers as tokens, which save a look into the slab but need unsafe code and a rule about
//! who may free a source when.
//!
//! # Rules
//!
//! - No waker is woken, dropped or cloned while a lock is held: that may run a user's code, which may come back here.
//! - Locks are taken in the order `poller`, `sources`, a source's waiters; or `poller`, `reception`, a signal's listeners.

mod evented;
mod readiness;
mod registration;
mod signals;
mod source;
mod sources;
mod waiters;

use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::task::Waker;
use std::time::Duration;
use std::{io, mem};

pub(crate) use evented::{ByteSink, ByteSource, Evented, less_than_asked};
use gmp_exec::netpoll::Netpoll;
use gmp_exec::runtime::Handle;
use mio::unix::SourceFd;
use mio::{Events, Poll, Token};
pub(crate) use readiness::ReadyEvent;
pub(crate) use registration::{Attempt, Direction, Registration, shutdown_error};
use signals::Reception;
use sources::Sources;

use crate::io::Interest;
use crate::lock::{lock, wake_all};
use crate::sys::Deadline;

/// One epoll (or kqueue) and the descriptors registered with it.
#[derive(Debug)]
pub(crate) struct Reactor {
    registry: mio::Registry,
    waker: mio::Waker,
    sources: Mutex<Sources>,
    reception: Mutex<Reception>,
    /// Held by the thread that polls. Never waited for: the scheduler sends one thread at a time.
    poller: Mutex<Poller>,
}

/// What only the polling thread needs.
#[derive(Debug)]
struct Poller {
    poll: Poll,
    events: Events,
    /// For polls that only look; `None`: the same.
    busy_events: Option<Events>,
    deadline: Deadline,
    /// The wakers of one batch; kept so that its memory is reused.
    woken: Vec<Waker>,
}

/// No source has this token: it is not a key that a slab hands out.
const WAKE: Token = Token(usize::MAX);

impl Reactor {
    /// The current runtime's reactor.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new)'s, the first time.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled: with tokio's messages.
    #[track_caller]
    pub(crate) fn current() -> io::Result<Arc<Self>> {
        Reactor::of(&Handle::current())
    }

    /// The current runtime's reactor, if there is a current runtime and it may have one.
    pub(crate) fn try_current() -> Option<io::Result<Arc<Self>>> {
        let handle = Handle::try_current().ok().filter(Handle::is_io_enabled)?;
        Some(Reactor::of(&handle))
    }

    #[track_caller]
    fn of(handle: &Handle) -> io::Result<Arc<Self>> {
        handle.netpoll(|| Reactor::new(handle.max_io_events()))
    }

    /// Takes at most `limits.0` events at once, and `limits.1` while the scheduler has other things to do. What is left over
    /// stays in the kernel until the next poll.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left for the epoll, its eventfd and its timer. That a timer is forbidden is none.
    pub(crate) fn new(limits: (usize, usize)) -> io::Result<Self> {
        let poll = Poll::new()?;
        let deadline = Deadline::new(poll.registry())?;
        Ok(Reactor {
            registry: poll.registry().try_clone()?,
            waker: mio::Waker::new(poll.registry(), WAKE)?,
            sources: Mutex::default(),
            reception: Mutex::default(),
            poller: Mutex::new(Poller {
                poll,
                events: Events::with_capacity(limits.0),
                busy_events: (limits.1 != limits.0).then(|| Events::with_capacity(limits.1)),
                deadline,
                woken: Vec::new(),
            }),
        })
    }

    /// Registers `fd` for as long as the result lives.
    fn register(self: Arc<Self>, fd: RawFd, interest: Interest) -> io::Result<Registration> {
        // The kernel is asked under the lock, so that the two never disagree about whose number `fd` is. It takes a lock of
        // its own for the same time, so nobody waits for longer than they would anyway.
        let ask = |token| self.registry.register(&mut SourceFd(&fd), token, interest.to_mio());
        let (token, source) = lock(&self.sources).insert(fd, ask)?;
        Ok(Registration::new(self, source, token, fd))
    }

    /// Undoes `register`. The second call for the same token does nothing.
    fn deregister(&self, token: Token, fd: RawFd) -> io::Result<()> {
        // From here on an event that is already under way finds nobody, whatever the slot is used for next.
        lock(&self.sources).remove(token, fd, || self.registry.deregister(&mut SourceFd(&fd)))
    }
}

impl Netpoll for Reactor {
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        let Some(mut poller) = self.try_poller() else {
            return Ok(());
        };
        poller.wait(timeout)?;
        let Poller { events, busy_events, woken, .. } = &mut *poller;
        let events = if timeout == Some(Duration::ZERO) { busy_events.as_mut().unwrap_or(events) } else { events };
        if !events.is_empty() && lock(&self.sources).deliver(events, woken) {
            Reactor::collect_signalled(woken);
        }
        if poller.woken.is_empty() {
            return Ok(());
        }
        let mut woken = mem::take(&mut poller.woken);
        drop(poller);
        wake_all(&mut woken);
        self.give_back(woken);
        Ok(())
    }

    fn wake(&self) {
        // Failure means that the eventfd is gone, which it can't be while `self` exists.
        self.waker.wake().expect("the reactor's eventfd can be written to");
    }

    fn shutdown(&self) {
        let sources = lock(&self.sources).close();
        let mut woken = Vec::new();
        for source in &sources {
            source.shut_down(&mut woken);
        }
        self.end_reception(&mut woken);
        wake_all(&mut woken);
    }
}

impl Reactor {
    fn try_poller(&self) -> Option<MutexGuard<'_, Poller>> {
        match self.poller.try_lock() {
            Ok(poller) => Some(poller),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn give_back(&self, woken: Vec<Waker>) {
        if let Some(mut poller) = self.try_poller() {
            poller.woken = woken;
        }
    }
}

impl Poller {
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let is_look = timeout == Some(Duration::ZERO);
        let timeout = self.deadline.arm(timeout)?;
        let events = if is_look { self.busy_events.as_mut().unwrap_or(&mut self.events) } else { &mut self.events };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            result => result,
        }
    }
}

#[cfg(test)]
mod tests;
