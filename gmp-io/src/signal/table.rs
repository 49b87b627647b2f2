//! The signals of this process: a flag and the listeners for each number, and the pipe.
//!
//! Made with the first reactor, and never freed, because the handlers refer to it.
//!
//! No signal is lost between a handler and the reactors:
//!
//! ```text
//! handler: pending = true             │  reactor, at an event: read until the pipe is empty
//!          write a byte into the pipe │                        swap each pending with false,
//!                                     │                        notify the listeners
//! ```
//!
//! A byte that is read was written after its flag was set, so the swaps that follow see the flag. A
//! byte that comes after the last read is a new event, for every reactor. If the pipe is full,
//! bytes of earlier signals are still to be read, and the flag was set before that. If the swaps
//! came first, a flag could be set after them and its byte be read: no reactor would look again.
//! Several reactors may read and swap at once; the one that finds the flag notifies the listeners
//! of all runtimes.

use std::io::{self, Read};
use std::os::raw::c_int;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, OnceLock};
use std::task::Waker;

use socket2::Type;

use super::install;
use super::listeners::{Listeners, Subscription};
use crate::lock::lock;
use crate::sys;

#[derive(Debug)]
pub(crate) struct SignalTable {
    entries: [SignalEntry; HIGHEST],
    /// Handlers write to this end.
    sender: UnixStream,
    /// All reactors watch this end.
    receiver: UnixStream,
}

/// The highest signal number of Linux; other systems have fewer.
const HIGHEST: usize = 64;

/// A signal number.
#[derive(Debug, Default)]
struct SignalEntry {
    /// A signal has come and the listeners have not been notified. Set by the handler.
    pending: AtomicBool,
    installed: Mutex<bool>,
    listeners: Listeners,
}

static TABLE: OnceLock<SignalTable> = OnceLock::new();

impl SignalTable {
    /// # Errors
    ///
    /// The system has no descriptors left for the pipe. A later call tries again.
    pub(crate) fn get() -> io::Result<&'static SignalTable> {
        match TABLE.get() {
            Some(table) => Ok(table),
            // If two threads make a table at the same time, one of the tables is dropped.
            None => SignalTable::new().map(|table| TABLE.get_or_init(|| table)),
        }
    }

    /// `None` as long as this process has neither had a reactor nor asked for a signal.
    pub(crate) fn existing() -> Option<&'static SignalTable> {
        TABLE.get()
    }

    fn new() -> io::Result<Self> {
        let (sender, receiver) = sys::unix_pair(Type::STREAM)?;
        let entries = std::array::from_fn(|_| SignalEntry::default());
        Ok(SignalTable { entries, sender: sender.into(), receiver: receiver.into() })
    }

    /// The end of the pipe that becomes readable when a signal has come.
    pub(crate) fn receiver(&self) -> &UnixStream {
        &self.receiver
    }

    /// Reads until the pipe is empty, so that the next byte is an event again. This ends, because
    /// handlers write less than is read in the same time.
    pub(crate) fn empty_pipe(&self) {
        let mut receiver = &self.receiver;
        while receiver.read(&mut [0; 512]).is_ok() {}
    }

    /// Makes sure that signals of this number are caught, and returns a listener for those that
    /// come from now on.
    ///
    /// # Errors
    ///
    /// The number can't be caught. The errors are tokio's, even where they come from the system.
    pub(super) fn subscribe(&'static self, number: c_int) -> io::Result<Subscription> {
        let index = usize::try_from(number - 1).map_err(io::Error::other)?;
        let entry = self.entries.get(index).ok_or_else(|| io::Error::other("signal too large"))?;
        entry.install(number, &self.sender)?;
        Ok(entry.listeners.subscribe())
    }

    /// Notifies the listeners of pending signals. Runs no user code: the wakers are moved to
    /// `woken`.
    pub(crate) fn deliver(&self, woken: &mut Vec<Waker>) {
        for entry in &self.entries {
            if entry.pending.swap(false, SeqCst) {
                entry.listeners.advance(woken);
            }
        }
    }

    /// Makes all listeners poll again.
    pub(crate) fn nudge(&self, woken: &mut Vec<Waker>) {
        self.entries.iter().for_each(|entry| entry.listeners.nudge(woken));
    }
}

impl SignalEntry {
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
