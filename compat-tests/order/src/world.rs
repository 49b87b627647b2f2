//! The state that the tasks of a running program share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, Notify, Semaphore, mpsc, oneshot};

use crate::library::{Ended, Library};
use crate::program::SHARED;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Tasks are numbered in the order in which they were spawned; 0 stands for the roots.
    pub task: u32,
    /// The step of the program.
    pub step: u32,
    /// The result of the step.
    pub what: What,
    /// The clock's reading.
    pub now: Duration,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum What {
    Begun,
    Done,
    Joined(Ended),
    Finished(bool),
    /// The step did not apply.
    Nothing,
    /// The other end is gone.
    Closed,
    Left,
    Right,
    /// A task's future was dropped before its end.
    Dropped,
    TimedOut,
}

/// All events, in order.
pub type Trace = Vec<Event>;

pub(crate) struct World<L: Library> {
    log: Mutex<Log>,
    pub(crate) handles: Mutex<[Option<L::JoinHandle>; SHARED]>,
    pub(crate) abort_handles: Mutex<[Option<L::AbortHandle>; SHARED]>,
    pub(crate) channels: [Channel; SHARED],
    pub(crate) notifies: [Notify; SHARED],
    pub(crate) semaphores: [Semaphore; SHARED],
    pub(crate) oneshots: [Oneshot; SHARED],
}

pub(crate) struct Channel {
    pub(crate) sender: mpsc::Sender<()>,
    pub(crate) receiver: AsyncMutex<mpsc::Receiver<()>>,
}

pub(crate) struct Oneshot {
    pub(crate) sender: Mutex<Option<oneshot::Sender<()>>>,
    pub(crate) receiver: Mutex<Option<oneshot::Receiver<()>>>,
}

#[derive(Default)]
struct Log {
    trace: Trace,
    tasks: u32,
    is_closed: bool,
}

impl<L: Library> World<L> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(World {
            log: Mutex::default(),
            handles: Mutex::default(),
            abort_handles: Mutex::default(),
            channels: std::array::from_fn(|index| {
                let (sender, receiver) = mpsc::channel(index + 1);
                Channel { sender, receiver: AsyncMutex::new(receiver) }
            }),
            notifies: std::array::from_fn(|_| Notify::new()),
            semaphores: std::array::from_fn(|index| Semaphore::new(index + 1)),
            oneshots: std::array::from_fn(|_| {
                let (sender, receiver) = oneshot::channel();
                Oneshot { sender: Mutex::new(Some(sender)), receiver: Mutex::new(Some(receiver)) }
            }),
        })
    }

    pub(crate) fn next_task(&self) -> u32 {
        let mut log = lock(&self.log);
        log.tasks += 1;
        log.tasks
    }

    pub(crate) fn log(&self, task: u32, step: u32, what: What) {
        let now = L::now();
        let mut log = lock(&self.log);
        if !log.is_closed {
            log.trace.push(Event { task, step, what, now });
        }
    }

    /// The number of events so far.
    pub(crate) fn events(&self) -> usize {
        lock(&self.log).trace.len()
    }

    /// Ends the log: the order in which a runtime drops its tasks is not compared.
    pub(crate) fn close(&self) -> Trace {
        let mut log = lock(&self.log);
        log.is_closed = true;
        std::mem::take(&mut log.trace)
    }
}

/// Ignores poisoning, because panics are part of the programs.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
