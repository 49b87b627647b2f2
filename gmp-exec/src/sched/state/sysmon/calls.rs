//! How other threads end the sleep of sysmon. The report thread (`blocked`) is called in the same
//! way.
//!
//! | caller | sysmon |
//! |---|---|
//! | publishes the reason | |
//! | writes the kind of reason into `pending` (RMW) | `pending` is empty? park |
//! | `pending` was empty: unpark | empties `pending` |
//!
//! An unpark is sticky, so an unpark that comes between sysmon's look at `pending` and the park
//! ends the park at once. An unpark may also be left over from an earlier reason that sysmon has
//! seen without parking. Then sysmon looks once without a result. There is no lock, because a
//! caller may be a thread that submits tasks, and sysmon's own thread may lose its core at any
//! moment.

use std::sync::OnceLock;
use std::time::Duration;

use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::{AtomicU8, fence};
use crate::sync::thread::{self, Thread};

/// Look: a caller has found every processor busy.
pub(crate) const CALLED: u8 = 1;
/// Look again, or sooner than planned, or start a machine.
pub(in crate::sched) const WOKEN: u8 = 2;
/// The runtime ends.
pub(crate) const STOPPED: u8 = 4;

#[derive(Debug, Default)]
pub(crate) struct Calls {
    pending: AtomicU8,
    /// Set by sysmon before its first look at `pending`. A caller that finds no thread here wrote
    /// into `pending` before that look.
    thread: OnceLock<Thread>,
}

impl Calls {
    pub(crate) fn add(&self, reason: u8) {
        if self.pending.fetch_or(reason, SeqCst) == 0 {
            fence(SeqCst);
            if let Some(thread) = self.thread.get() {
                thread.unpark();
            }
        }
    }

    /// Called by sysmon's thread before it waits for the first time.
    pub(crate) fn bind(&self) {
        let bound = self.thread.set(thread::current());
        debug_assert!(bound.is_ok(), "one thread waits for the calls");
        fence(SeqCst);
    }

    /// Waits for a call, but no longer than `limit`. Returns the reasons. Once added, [`STOPPED`]
    /// is part of every result.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> u8 {
        if self.pending.load(SeqCst) == 0 {
            match limit {
                None => thread::park(),
                Some(limit) => thread::park_timeout(limit),
            }
        }
        self.pending.fetch_and(STOPPED, SeqCst)
    }
}
