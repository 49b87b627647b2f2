//! Which tasks hold their threads: recorded at the moment at which sysmon finds a poll stuck,
//! aggregated, and reported.
//!
//! - A taker, sysmon, or a machine whose poll was long puts a [`Record`] into a bounded queue. That
//!   is a few atomic operations and never waits; a record that finds the queue full is dropped and
//!   counted.
//! - The report thread ("gmp-report") takes the records out, looks at the threads that sleep (their
//!   system call, and with the feature `blocked-stacks` their stack). It interrupts threads that
//!   compute to copy their stack, if `GMP_BLOCKED=signal` allows that. It aggregates the records,
//!   and prints them if the environment asks for output. With the feature `tracing` it emits
//!   events. sysmon starts the thread at the first record, and the end of the runtime ends it.
//!   While there are no records, the thread sleeps without a limit.
//! - [`Handle::blocked_report`](crate::runtime::Handle::blocked_report) copies what was aggregated,
//!   and finds the names and lines of the stacks. While no report is asked for, stacks stay
//!   addresses: to find a line, tens of MiB of debugging information are read.
//!
//! Neither sysmon nor a stuck thread formats or writes anything: standard error may be a full pipe,
//! or locked by the very thread that is stuck.
//!
//! Polls shorter than [`SHORT`] are not reported: a thread may sleep for a few microseconds for the
//! allocator's lock, or for a page.

mod aggregate;
#[cfg(feature = "tracing")]
mod events;
#[cfg(not(feature = "tracing"))]
#[path = "no_events.rs"]
mod events;
mod frame;
mod look;
mod queue;
mod record;
mod report;
#[cfg(any(
    all(test, loom),
    all(
        feature = "blocked-stacks",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(any(loom, shuttle))
    )
))]
mod request;
mod rows;
mod settings;
mod sight;
#[cfg(all(
    feature = "blocked-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, shuttle))
))]
mod stack;
#[cfg(not(all(
    feature = "blocked-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, shuttle))
)))]
#[path = "no_stack.rs"]
mod stack;
mod thread;
mod waited_for;

use std::time::{Duration, Instant};

pub use frame::{BlockedFrame, BlockedStack, FrameOrigin};
pub(crate) use record::{Begun, Ended, Record};
pub use report::{BlockedCall, BlockedCause, BlockedEntry, BlockedReport};
pub(crate) use settings::Settings;
pub(crate) use sight::{Sight, Told};
pub(crate) use waited_for::describe as describe_waited_for;

pub(crate) use stack::{forget_symbols, frames as named, here, interrupted_at};

use self::aggregate::Aggregate;
use self::queue::Queue;
use crate::sync::Mutex;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;
use crate::sys::stderr;
use crate::task::Id;

/// Shorter polls are not reported: they delay no other task for long.
const SHORT: Duration = Duration::from_millis(1);

const NOTHING_FOUND: &str = "GMP_BLOCKED: watched, nothing found";

/// What a runtime knows of the polls that have held their threads.
#[derive(Debug)]
pub(crate) struct Blocked {
    queue: Queue,
    aggregate: Mutex<Aggregate>,
    /// The report thread runs, or has run.
    is_started: AtomicBool,
    is_summarised: AtomicBool,
    settings: Settings,
}

impl Blocked {
    pub(crate) fn new(settings: Settings) -> Blocked {
        let (queue, aggregate) = (Queue::new(), Mutex::new(Aggregate::default()));
        let [is_started, is_summarised] = [(); 2].map(|()| AtomicBool::new(false));
        Blocked { queue, aggregate, is_started, is_summarised, settings }
    }

    pub(crate) fn record(&self, record: Record) {
        self.queue.push(record);
    }

    /// Whether sysmon is to start the report thread, which there isn't yet.
    pub(crate) fn is_thread_wanted(&self) -> bool {
        !self.queue.is_empty() && !self.is_started.load(Relaxed)
    }

    pub(crate) fn thread_started(&self) {
        self.is_started.store(true, Relaxed);
    }

    /// The body of the report thread.
    pub(crate) fn run_thread(&self, told: &dyn Told) {
        thread::run(self, told);
    }

    /// The runtime ends. If there is no report thread, nothing has been found.
    pub(crate) fn stop(&self) {
        self.queue.stop();
        if !self.is_started.load(Relaxed)
            && let Some(text) = self.last_words()
        {
            stderr::try_write(&text);
        }
    }

    /// The summary, if it is asked for and was not made yet.
    pub(crate) fn last_words(&self) -> Option<String> {
        if !self.settings.summary || self.is_summarised.swap(true, Relaxed) {
            return None;
        }
        let text = self.report().to_string();
        Some(report::prefixed(if text.is_empty() { NOTHING_FOUND } else { &text }))
    }

    /// The tasks that hold their threads now, and since when.
    pub(crate) fn under_way(&self) -> Vec<(Id, Instant)> {
        self.aggregate.lock().under_way()
    }

    /// The polls that have held their threads in this way and are over: how many, and for how long.
    /// Neither ever decreases.
    #[cfg(feature = "insight")]
    pub(crate) fn totals(&self, cause: BlockedCause) -> (u64, Duration) {
        self.aggregate.lock().totals(cause)
    }

    /// What was aggregated until now.
    pub(crate) fn report(&self) -> BlockedReport {
        let mut report = self.aggregate.lock().report(Instant::now(), self.queue.dropped());
        report::name_stacks(&mut report.entries);
        report
    }
}

#[cfg(all(test, loom))]
mod loom_request;
