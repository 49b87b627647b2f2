//! What the process knows about signals: a flag and the listeners for each number, and the pipe.
//!
//! Made when the first signal is asked for, and never taken down, since the handlers refer to it.
//!
//! No signal is lost between a handler and the reactors:
//!
//! ```text
//! handler:  pending = true             │  a reactor, at an event:  read until the pipe is empty
//!           write a byte into the pipe │                           swap each pending with false, tell who listens
//! ```
//!
//! A byte that is read was written after its flag was set, so the swaps that follow see the flag. A byte that comes after
//! the last read is a new event, for every reactor. The pipe is full: bytes of others are still to be read, and the flag
//! was set before that. With the swaps first, a flag could be set behind them and its byte be read: nobody would look again.
//! Several reactors may read and swap at once; whichever finds the flag tells the listeners of all runtimes.

use std::io::{self, Read};
use std::os::raw::c_int;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, OnceLock};
use std::task::Waker;

use super::install;
use super::listeners::{Listeners, Subscription};
use crate::lock::lock;

#[derive(Debug)]
pub(crate) struct Registry {
    numbers: [Number; HIGHEST],
    /// Handlers write here.
    sender: UnixStream,
    /// All reactors watch this.
    receiver: UnixStream,
}

/// Linux counts its signals up to 64, others no further than that.
const HIGHEST: usize = 64;

/// One signal number.
#[derive(Debug, Default)]
struct Number {
    /// It has come, and nobody has been told. Set by the handler.
    pending: AtomicBool,
    installed: Mutex<bool>,
    listeners: Listeners,
}

static REGISTRY: OnceLock<Registry> = OnceLock::new();

impl Registry {
    /// # Errors
    ///
    /// The system has no descriptors left for the pipe. A later call tries again.
    pub(crate) fn get() -> io::Result<&'static Registry> {
        match REGISTRY.get() {
            Some(registry) => Ok(registry),
            // Of two who come at the same time, one has made it in vain.
            None => Registry::new().map(|registry| REGISTRY.get_or_init(|| registry)),
        }
    }

    /// `None` as long as nobody in this process has asked for a signal.
    pub(crate) fn existing() -> Option<&'static Registry> {
        REGISTRY.get()
    }

    fn new() -> io::Result<Self> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        receiver.set_nonblocking(true)?;
        Ok(Registry { numbers: std::array::from_fn(|_| Number::default()), sender, receiver })
    }

    /// The end of the pipe that becomes readable when something has come.
    pub(crate) fn receiver(&self) -> &UnixStream {
        &self.receiver
    }

    /// Reads until there is nothing more, so that the next byte is an event again. Handlers write less than is read in the
    /// same time, so this ends.
    pub(crate) fn empty_pipe(&self) {
        let mut receiver = &self.receiver;
        while receiver.read(&mut [0; 512]).is_ok() {}
    }

    /// Makes sure that signals of this number are caught, and listens to those that come from now on.
    ///
    /// # Errors
    ///
    /// The number can't be caught: tokio's errors, also where they come from the system.
    pub(super) fn subscribe(&'static self, number: c_int) -> io::Result<Subscription> {
        let index = usize::try_from(number - 1).map_err(io::Error::other)?;
        let entry = self.numbers.get(index).ok_or_else(|| io::Error::other("signal too large"))?;
        entry.install(number, &self.sender)?;
        Ok(entry.listeners.subscribe())
    }

    /// Tells the listeners what has come. Runs no user code: the wakers go to `woken`.
    pub(crate) fn deliver(&self, woken: &mut Vec<Waker>) {
        for number in &self.numbers {
            if number.pending.swap(false, SeqCst) {
                number.listeners.advance(woken);
            }
        }
    }

    /// Makes all who wait for any signal look at the world again.
    pub(crate) fn nudge(&self, woken: &mut Vec<Waker>) {
        self.numbers.iter().for_each(|number| number.listeners.nudge(woken));
    }
}

impl Number {
    /// Installs the handler, the first time.
    fn install(&'static self, number: c_int, pipe: &'static UnixStream) -> io::Result<()> {
        let mut installed = lock(&self.installed);
        if !*installed {
            install(number, &self.pending, pipe)?;
            *installed = true;
        }
        Ok(())
    }
}
