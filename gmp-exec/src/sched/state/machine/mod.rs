//! A machine (Go: M): an operating system thread that can run tasks while it holds a processor.
//!
//! Other threads may use `Machine`; the part for the machine's own thread is in `local.rs`. A
//! machine is started when a processor has work and no spare is available. It becomes a spare when
//! its processor was taken or is idle, and its thread ends after a keep-alive.

pub(crate) mod ownership;
pub(crate) mod running;
pub(crate) mod sleep_until;
pub(crate) mod thread_root;

use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::metrics::Counter;
use crate::sched::state::machine::ownership::{Loss, Ownership, ProcessorToken, Sighting};
use crate::sched::state::machine::running::{Running, RunningCell};
use crate::sched::state::machine::sleep_until::SleepUntil;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Mutex};
use crate::sys::thread_clock::ThreadClock;
use crate::sys::thread_state::{RunnableTime, ThreadId, ThreadState};
use crate::sys::time_slice::TimeSlice;
use crate::task::StuckBy;

#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) id: usize,
    pub(crate) ownership: Ownership,
    /// The task that the machine polls.
    pub(crate) running: RunningCell,
    /// The reason for which the machine is woken. Set by the thread that took the machine off a
    /// list of `Idle`, taken by the machine.
    assignment: Mutex<Option<Assignment>>,
    thread: OnceLock<OsThread>,
    /// When the machine wakes by itself from a sleep in the netpoll.
    pub(crate) sleep_until: SleepUntil,
    pub(crate) counters: TaskCounters,
    /// The end of the runtime does not wait for this machine. Written by the machine, read by the
    /// thread that waits.
    pub(in crate::sched) not_awaited: AtomicBool,
    /// The machine may be inside a poll, and not in a section outside of the poll. Written by the
    /// machine, read by `last_poll`.
    pub(in crate::sched) may_poll: AtomicBool,
    /// The [`TimeSlice`] that was set last; 0: none yet. Each thread that sets a slice writes it. If
    /// two threads set it at once, this may differ from the kernel's value until the next slice is
    /// set. No decision of the scheduler depends on it, so it is not a part of the models.
    time_slice: AtomicU8,
    /// How many values need the thread to stay, with or without work. The machine's own thread
    /// counts up, any thread counts down.
    dependants: AtomicUsize,
}

/// Tasks that a machine has spawned, and futures that were dropped on it. Only the machine's thread
/// writes them.
#[derive(Debug, Default)]
pub(crate) struct TaskCounters {
    pub(crate) spawned: Counter,
    pub(crate) finished: Counter,
}

/// The handles of a machine's thread: to unpark it, to read its CPU clock, and to ask the kernel
/// about it.
#[derive(Debug)]
struct OsThread {
    thread: Thread,
    clock: Option<ThreadClock>,
    id: Option<ThreadId>,
    /// The id by which the standard library knows it, which models don't have.
    std_id: std::thread::ThreadId,
}

/// A machine that is stuck, so that sysmon takes its processor.
#[derive(Clone, Debug)]
pub(crate) struct Stuck {
    pub(crate) machine: Arc<Machine>,
    /// In this poll or section.
    pub(crate) seen: Sighting,
    pub(crate) cause: StuckBy,
    /// When this poll or section was seen first.
    pub(crate) since: Instant,
}

impl Stuck {
    /// Takes the processor. Called by sysmon only: the ownership protocol allows one taker at a time.
    /// `at`: the clock's `running_ns`.
    #[doc(alias = "retake")]
    #[must_use = "a lost token is a lost processor"]
    pub(in crate::sched) fn take(&self, at: u64) -> Option<ProcessorToken> {
        let runnable = self.machine.runnable_time().total();
        self.machine.ownership.take(self.seen, Loss { cause: self.cause, runnable, at })
    }
}

/// The reason for which a parked machine is woken.
#[derive(Debug)]
pub(crate) enum Assignment {
    /// Run tasks with this processor. `spinning`: the machine was woken to look for work and counts
    /// as spinning.
    Run { token: ProcessorToken, spinning: bool },
    /// The runtime is shutting down.
    Exit,
}

impl Machine {
    pub(crate) fn new(id: usize) -> Arc<Machine> {
        Arc::new(Machine { id, ..Machine::default() })
    }

    /// Called by the machine's own thread before anything else.
    pub(crate) fn bind(&self) {
        let bound = self.thread.set(OsThread {
            thread: thread::current(),
            clock: ThreadClock::of_current_thread(),
            id: ThreadId::of_current_thread(),
            std_id: std::thread::current().id(),
        });
        debug_assert!(bound.is_ok(), "a machine has one thread");
    }

    /// `None`: the thread has not begun yet.
    pub(crate) fn std_thread_id(&self) -> Option<std::thread::ThreadId> {
        Some(self.thread.get()?.std_id)
    }

    /// Sets how long the kernel lets the machine's thread run while other threads wait.
    pub(in crate::sched) fn set_time_slice(&self, slice: TimeSlice) {
        if let Some(thread) = self.thread.get().and_then(|thread| thread.id) {
            slice.set_for(thread);
            self.time_slice.store(slice as u8, Relaxed);
        }
    }

    /// The thread has the slice of a thread of the program, which is the kernel's unless the program
    /// has set another.
    pub(in crate::sched) fn note_default_slice(&self) {
        self.time_slice.store(TimeSlice::Default as u8, Relaxed);
    }

    /// Whether this slice was set last.
    pub(in crate::sched) fn has_time_slice(&self, slice: TimeSlice) -> bool {
        self.time_slice.load(Relaxed) == slice as u8
    }

    pub(crate) fn assign(&self, assignment: Assignment) {
        let before = self.assignment.lock().replace(assignment);
        debug_assert!(before.is_none(), "a machine is taken off a list by one thread");
    }

    pub(crate) fn unpark(&self) {
        // A machine that is not bound yet has not parked yet either. It looks for its assignment
        // before it parks.
        if let Some(this) = self.thread.get() {
            this.thread.unpark();
        }
    }

    pub(crate) fn take_assignment(&self) -> Option<Assignment> {
        self.assignment.lock().take()
    }

    /// Waits for an assignment; `None` after `limit`. Only for a machine that is on a list of
    /// `Idle`.
    pub(crate) fn park(&self, limit: Option<Duration>) -> Option<Assignment> {
        if let Some(assignment) = self.take_assignment() {
            return Some(assignment);
        }
        match limit {
            None => thread::park(),
            Some(limit) => thread::park_timeout(limit),
        }
        self.take_assignment()
    }

    /// Keeps the thread until a matching [`let_go`](Self::let_go), or until the runtime ends.
    pub(crate) fn keep(&self) {
        self.dependants.fetch_add(1, SeqCst);
    }

    pub(crate) fn let_go(&self) {
        if self.dependants.fetch_sub(1, SeqCst) == 1 {
            // The keep-alive may have passed, so the machine checks whether it may exit.
            self.unpark();
        }
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.dependants.load(SeqCst) > 0
    }

    /// The task that the machine polls in this turn. `None`: the turn is over, or the machine is in
    /// scheduler code.
    pub(crate) fn running_in(&self, turn: u64) -> Option<Running> {
        let is_in_turn = || self.ownership.is_in_turn(turn);
        let running = is_in_turn().then(|| self.running.read())?;
        running.filter(|_| is_in_turn())
    }

    /// The id by which the kernel knows the machine's thread.
    pub(crate) fn thread_id(&self) -> Option<ThreadId> {
        self.thread.get().and_then(|this| this.id)
    }

    /// CPU time used by the machine's thread.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.thread.get().and_then(|this| this.clock).and_then(ThreadClock::read)
    }

    /// How long the machine's thread has been runnable, with a core and without. If the kernel does
    /// not say, the CPU time is the lower bound.
    pub(crate) fn runnable_time(&self) -> RunnableTime {
        let runnable = self.thread.get().and_then(|this| this.id).and_then(ThreadId::runnable_time);
        let on_core = || self.cpu_time().unwrap_or_default();
        runnable.unwrap_or_else(|| RunnableTime { on_core: on_core(), waiting: Duration::ZERO })
    }

    /// The state of the machine's thread, according to the kernel. `None`: the kernel does not say.
    pub(crate) fn state(&self) -> Option<ThreadState> {
        self.thread.get().and_then(|this| this.id).and_then(ThreadId::state)
    }
}
