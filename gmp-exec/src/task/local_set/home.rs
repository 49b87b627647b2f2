//! The part of a set that its tasks refer to, and that any thread may access.
//!
//! One lock protects the inbox and the waker of the set, because a wake-up needs both. No user code
//! runs under it: wakers are cloned before, and woken and dropped after.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Weak;
use std::task::Waker;

use event_listener::{Event, Listener};

use super::all::address;
use super::polled::PolledTask;
use crate::contain::contain;
use crate::context;
use crate::sched::config::Config;
use crate::sched::{RUNTIME_SHUT_DOWN, Scheduler};
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::task::observer::joining::joining_set;
use crate::task::registry::Registry;
use crate::task::watch::unhandled_panic::{OnPanic, UnhandledPanic};
use crate::task::{Id, Observed, Runnable, TaskHooks};

thread_local! {
    /// Its address identifies the thread while the thread lives. It has no destructor.
    static MARK: u8 = const { 0 };
}

fn this_thread() -> usize {
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

const SET_SHUT_DOWN: &str = "a spawned task panicked and the LocalSet is configured to shutdown on unhandled panic";

pub(crate) struct LocalHome {
    /// The thread of the set.
    thread: usize,
    inbox: Mutex<Inbox>,
    registry: Registry,
    /// The address of the runtime that was current when the set was made or polled last; 0: none.
    runtime: AtomicUsize,
    /// That runtime. As long as it is here, no other one has the same address.
    scheduler: Mutex<Weak<Scheduler>>,
    /// Whether the wakers of tasks that are spawned now are counted. Written only by the set's
    /// thread.
    is_observed: AtomicBool,
    /// The processor of the machine that polls or has polled the set, plus 1; 0: none.
    worker: AtomicUsize,
    /// The task that the set polls.
    pub(super) polled: PolledTask,
    /// Tasks that were spawned, and those whose futures were dropped. Written only by the set's thread.
    spawned: AtomicUsize,
    finished: AtomicUsize,
    /// Whether the set is being dropped, or was: its tasks must be cancelled. Written only by the
    /// set's thread.
    is_closed: AtomicBool,
    /// Notified when a task arrives after the set was closed.
    arrived: Event,
    pub(in crate::task) on_panic: OnPanic,
    /// The settings of the local runtime whose set this is.
    of_runtime: Option<OfRuntime>,
}

#[derive(Debug)]
struct OfRuntime {
    hooks: Option<Arc<TaskHooks>>,
}

/// What the future that polls a set waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drives {
    /// The end of all tasks of the set.
    TheSet,
    /// The end of another future. Then a wake-up of the set only causes polls of its tasks.
    Another,
}

#[derive(Default)]
struct Inbox {
    /// Tasks woken on the set's thread while the set was not being polled.
    own: VecDeque<Runnable>,
    /// Tasks woken by other threads.
    foreign: VecDeque<Runnable>,
    /// The waker of the task that polls the set. A wake-up takes it.
    waker: Option<Waker>,
}

impl LocalHome {
    /// The home of the tasks of a local runtime with these settings.
    pub(super) fn of_runtime(config: &Config) -> LocalHome {
        let home = LocalHome::new(&config.unhandled_panic, Some(OfRuntime { hooks: config.task_hooks.clone() }));
        home.is_observed.store(config.observed == Observed::Yes, Relaxed);
        home
    }

    fn new(on_panic: &UnhandledPanic, of_runtime: Option<OfRuntime>) -> LocalHome {
        let home = LocalHome {
            thread: this_thread(),
            inbox: Mutex::default(),
            registry: Registry::new(1),
            runtime: AtomicUsize::new(0),
            scheduler: Mutex::new(Weak::new()),
            is_observed: AtomicBool::new(false),
            worker: AtomicUsize::new(0),
            polled: PolledTask::new(),
            spawned: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            arrived: Event::new(),
            on_panic: OnPanic::new(on_panic),
            of_runtime,
        };
        home.note_runtime();
        home
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(in crate::task) fn hooks(&self) -> Option<&Arc<TaskHooks>> {
        self.of_runtime.as_ref()?.hooks.as_ref()
    }

    /// Whether the set is a part of a local runtime.
    pub(crate) fn is_of_runtime(&self) -> bool {
        self.of_runtime.is_some()
    }

    pub(super) fn panic_message(&self) -> &'static str {
        if self.is_of_runtime() { RUNTIME_SHUT_DOWN } else { SET_SHUT_DOWN }
    }

    // ---- any thread ----

    /// Adds a task that was woken while the set was not being polled, or by another thread.
    pub(super) fn push(&self, task: Runnable) {
        let mut inbox = self.lock();
        let tasks = if self.thread == this_thread() { &mut inbox.own } else { &mut inbox.foreign };
        tasks.push_back(task);
        let waker = inbox.waker.take();
        drop(inbox);
        // The waker may be any user code. Its panic must not reach the caller that wakes a task,
        // nor async-task, which may abort the process.
        contain(|| waker.map(Waker::wake));
        if self.is_closed() {
            self.arrived.notify(usize::MAX);
        }
    }

    pub(super) fn runtime(&self) -> usize {
        self.runtime.load(Relaxed)
    }

    /// The runtime that was current when the set was made or polled last, if it still exists.
    pub(super) fn scheduler(&self) -> Option<Arc<Scheduler>> {
        self.scheduler.lock().upgrade()
    }

    /// The processor of the machine that polls or has polled the set last, if it has one.
    pub(crate) fn worker(&self) -> Option<usize> {
        self.worker.load(Relaxed).checked_sub(1)
    }

    /// The task that the set polls.
    pub(crate) fn polled(&self) -> Option<Id> {
        self.polled.get()
    }

    /// The number of tasks whose futures exist.
    pub(crate) fn len(&self) -> usize {
        // In this order, so that a task that begins and ends in between does not count as finished only.
        let finished = self.finished.load(Relaxed);
        self.spawned().saturating_sub(finished)
    }

    pub(crate) fn spawned(&self) -> usize {
        self.spawned.load(Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock()
    }

    // ---- the thread of the set ----

    /// Makes the next push wake `waker`. `drives`: see [`Drives`].
    pub(super) fn register(self: &Arc<Self>, waker: &Waker, drives: Drives) {
        let is_registered = self.lock().waker.as_ref().is_some_and(|old| old.will_wake(waker));
        if !is_registered {
            let new = match drives {
                Drives::Another => joining_set(waker, self.address()).unwrap_or_else(|| waker.clone()),
                Drives::TheSet => waker.clone(),
            };
            let old = self.lock().waker.replace(new);
            // An earlier poll's waker: its panic must not reach this poll.
            contain(|| drop(old));
        }
    }

    /// The set is made or polled inside of the current runtime.
    pub(super) fn note_runtime(&self) {
        let is_noted = context::with_scheduler(|scheduler| {
            if address(scheduler) != self.runtime() {
                *self.scheduler.lock() = Arc::downgrade(&**scheduler);
                self.runtime.store(address(scheduler), Relaxed);
                self.is_observed.store(scheduler.config.observed == Observed::Yes, Relaxed);
            }
        });
        if is_noted.is_err() {
            self.runtime.store(0, Relaxed);
        }
    }

    /// The set is about to be polled.
    pub(super) fn note_worker(&self, worker: Option<usize>) {
        self.worker.store(worker.map_or(0, |worker| worker + 1), Relaxed);
    }

    /// Whether the wakers of a task that is spawned now are counted.
    pub(super) fn observed(&self) -> Observed {
        if self.is_observed.load(Relaxed) { Observed::Yes } else { Observed::No }
    }

    /// Names the set among those of the process.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Moves the tasks that the set's thread has woken to the tail of `own`, and the others to the
    /// tail of `foreign`.
    pub(super) fn move_into(&self, own: &mut VecDeque<Runnable>, foreign: &mut VecDeque<Runnable>) {
        let mut inbox = self.lock();
        own.append(&mut inbox.own);
        foreign.append(&mut inbox.foreign);
    }

    pub(super) fn count_spawned(&self) {
        self.spawned.store(self.spawned.load(Relaxed) + 1, Relaxed);
    }

    pub(crate) fn count_finished(&self) {
        self.finished.store(self.finished.load(Relaxed) + 1, Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Acquire)
    }

    /// From now on no task of the set may begin to wait. Tasks that wait are woken, to be
    /// cancelled. The waker of the set is dropped.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Release);
        let waker = self.lock().waker.take();
        contain(|| drop(waker));
        self.registry.close();
    }

    /// Waits until a task has arrived in the inbox.
    pub(super) fn wait_for_arrival(&self) {
        let listener = self.arrived.listen();
        let inbox = self.lock();
        let is_empty = inbox.own.is_empty() && inbox.foreign.is_empty();
        drop(inbox);
        if is_empty {
            listener.wait();
        }
    }
}

impl Default for LocalHome {
    fn default() -> LocalHome {
        LocalHome::new(&UnhandledPanic::Ignore, None)
    }
}

/// Takes no lock, and does not show the tasks, each of which would show this home again.
impl fmt::Debug for LocalHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHome").field("live", &self.len()).field("is_closed", &self.is_closed()).finish()
    }
}
