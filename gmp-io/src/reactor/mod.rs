//! The reactor: knows which descriptors are ready and which tasks wait for them.
//!
//! The scheduler wants at most one thread to sleep in the kernel, to be able to interrupt that
//! thread at any moment, and to receive ready tasks in batches. Tasks want to wait for a descriptor
//! without knowing about any of that. [`Reactor`] connects the two. It is the only implementor of
//! [`Netpoll`], and is made when the first descriptor of a runtime is registered.
//!
//! Every descriptor is registered once, edge-triggered, and stays registered. Its state lives in a
//! [`Source`](source::Source), which the task's side ([`Registration`]) and the reactor's side
//! ([`Sources`]) share:
//!
//! ```text
//! task (Registration → Source):
//!     operation → WouldBlock → clear readiness → store a waker
//! poll (Reactor → Sources → Source):
//!     kernel event → token → source → set readiness → take wakers
//! ```
//!
//! A read of a TCP connection makes these calls, and the last one copies the bytes:
//!
//! ```text
//! AsyncRead::poll_read for TcpStream      net/transfer.rs (a macro, used in net/tcp/stream.rs)
//! Evented::poll_read                      reactor/evented/transfer.rs
//! Registration::poll_io                   reactor/registration.rs: waits, tries, tries again
//! ByteSource::fill for std's TcpStream    net/tcp/stream.rs
//! uninit::recv                            io/uninit.rs: the kernel copies into the caller's buffer
//! ```
//!
//! Rejected: asking the kernel anew before each wait (one-shot or level-triggered epoll), because
//! that costs a system call per wait; and pointers as tokens, which save a look-up in the slab but
//! need unsafe code and a rule about when a source may be freed.
//!
//! # Rules
//!
//! - No waker is woken, dropped or cloned while a lock is held: a waker may run a user's code,
//!   which may call the reactor.
//! - Locks are taken in the order `event_loop`, `sources`, a source's waiters; or `numbers`, `sources`;
//!   or `event_loop`, `signal_watch`, a signal's listeners.

mod evented;
mod numbers;
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
use gmp_exec::bridge::{asleep, filter_has_come};
use gmp_exec::netpoll::{Netpoll, NetpollCounts};
use gmp_exec::runtime::Handle;
use mio::unix::SourceFd;
use mio::{Events, Poll, Token};
use numbers::Numbers;
pub(crate) use readiness::ReadyEvent;
pub(crate) use registration::{Attempt, Direction, Registration, shutdown_error};
use signals::{SignalWatch, Signals};
use sources::Sources;

use crate::io::Interest;
use crate::lock::{lock, wake_all};
use crate::signal::table::SignalTable;
use crate::sys::Deadline;

/// An epoll (or kqueue) instance and the descriptors registered with it.
#[doc(alias("Driver", "netpoll"))]
#[derive(Debug)]
pub(crate) struct Reactor {
    registry: mio::Registry,
    waker: mio::Waker,
    numbers: Mutex<Numbers>,
    sources: Mutex<Sources>,
    signal_watch: Mutex<SignalWatch>,
    /// Held by the thread that polls. No thread waits for this lock: the scheduler sends one poller
    /// at a time.
    event_loop: Mutex<EventLoop>,
}

/// The parts that only the polling thread needs.
#[derive(Debug)]
struct EventLoop {
    poll: Poll,
    events: Events,
    /// For polls that do not sleep. `None`: they use `events` too.
    busy_events: Option<Events>,
    deadline: Deadline,
    /// The wakers of one batch. Kept so that the memory is reused.
    woken: Vec<Waker>,
}

/// No source has this token: a slab never returns such a key.
const WAKE: Token = Token(usize::MAX);

impl Reactor {
    /// The current runtime's reactor.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), the first time.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled: with tokio's messages.
    #[track_caller]
    pub(crate) fn current() -> io::Result<Arc<Self>> {
        Reactor::of(&Handle::current())
    }

    /// The current runtime's reactor, if there is a current runtime and its I/O is enabled.
    pub(crate) fn try_current() -> Option<io::Result<Arc<Self>>> {
        let handle = Handle::try_current().ok().filter(Handle::is_io_enabled)?;
        Some(Reactor::of(&handle))
    }

    #[track_caller]
    fn of(handle: &Handle) -> io::Result<Arc<Self>> {
        handle.netpoll(|| Reactor::new(handle.max_io_events()))
    }

    /// Takes at most `limits.0` events at once, and at most `limits.1` while the scheduler has
    /// other work. The other events stay in the kernel until the next poll.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left for the epoll, its eventfd and its timer. A system that
    /// forbids the timer is no error.
    pub(crate) fn new(limits: (usize, usize)) -> io::Result<Self> {
        let poll = Poll::new()?;
        let deadline = Deadline::new(poll.registry())?;
        let reactor = Reactor {
            registry: poll.registry().try_clone()?,
            waker: mio::Waker::new(poll.registry(), WAKE)?,
            numbers: Mutex::default(),
            sources: Mutex::default(),
            signal_watch: Mutex::default(),
            event_loop: Mutex::new(EventLoop {
                poll,
                events: Events::with_capacity(limits.0),
                busy_events: (limits.1 != limits.0).then(|| Events::with_capacity(limits.1)),
                deadline,
                woken: Vec::new(),
            }),
        };
        open_signal_pipe();
        Ok(reactor)
    }

    /// Registers `fd` for as long as the result lives. Protocol: `numbers`.
    fn register(self: Arc<Self>, fd: RawFd, interest: Interest) -> io::Result<Registration> {
        let mut numbers = lock(&self.numbers);
        let (token, source) = lock(&self.sources).add()?;
        if let Err(error) = self.registry.register(&mut SourceFd(&fd), token, interest.to_mio()) {
            lock(&self.sources).take_back(token);
            return Err(error);
        }
        numbers.note(fd, token);
        drop(numbers);
        Ok(Registration::new(self, source, token, fd))
    }

    /// Undoes `register`. The second call for the same token does nothing.
    fn deregister(&self, token: Token, fd: RawFd) -> io::Result<()> {
        let mut numbers = lock(&self.numbers);
        // From here on an event that is already on its way finds no source, whatever the entry is
        // used for next.
        if !lock(&self.sources).remove(token) {
            return Ok(());
        }
        numbers.release(fd, token, || self.registry.deregister(&mut SourceFd(&fd)))
    }
}

impl Netpoll for Reactor {
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        let Some(mut event_loop) = self.try_event_loop() else {
            return Ok(());
        };
        event_loop.wait(timeout)?;
        let EventLoop { events, busy_events, woken, .. } = &mut *event_loop;
        let events = if timeout == Some(Duration::ZERO) { busy_events.as_mut().unwrap_or(events) } else { events };
        if !events.is_empty() {
            let signals = lock(&self.sources).deliver(events, woken);
            if signals == Signals::Came {
                Reactor::deliver_signals(woken);
            }
        }
        if event_loop.woken.is_empty() {
            return Ok(());
        }
        let mut woken = mem::take(&mut event_loop.woken);
        drop(event_loop);
        wake_all(&mut woken);
        self.give_back(woken);
        Ok(())
    }

    fn wake(&self) {
        // An error would mean that the eventfd is closed, which can't happen while `self` exists.
        self.waker.wake().expect("the reactor's eventfd can be written to");
    }

    fn counts(&self) -> NetpollCounts {
        lock(&self.sources).counts()
    }

    fn has_sources(&self) -> bool {
        let counts = self.counts();
        counts.registered > counts.deregistered || *lock(&self.signal_watch) == SignalWatch::On
    }

    fn shutdown(&self) {
        let sources = lock(&self.sources).close();
        let mut woken = Vec::new();
        for source in &sources {
            source.shut_down(&mut woken);
        }
        self.end_signal_watch(&mut woken);
        wake_all(&mut woken);
    }
}

impl Reactor {
    fn try_event_loop(&self) -> Option<MutexGuard<'_, EventLoop>> {
        match self.event_loop.try_lock() {
            Ok(event_loop) => Some(event_loop),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn give_back(&self, woken: Vec<Waker>) {
        if let Some(mut event_loop) = self.try_event_loop() {
            event_loop.woken = woken;
        }
    }
}

impl EventLoop {
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let is_look = timeout == Some(Duration::ZERO);
        let timeout = self.deadline.arm(timeout)?;
        let events = if is_look { self.busy_events.as_mut().unwrap_or(&mut self.events) } else { &mut self.events };
        match asleep(|| self.poll.poll(events, timeout)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            result => result,
        }
    }
}

/// Opened with the first reactor, as tokio opens its own with the first runtime: when a program first
/// waits for a signal or for a child, it may have no descriptors left. If it can't be opened now,
/// [`watch_signals`](Reactor::watch_signals) tries again and reports the error.
fn open_signal_pipe() {
    if !filter_has_come() {
        let _ = SignalTable::get();
    }
}

#[cfg(test)]
mod tests;
