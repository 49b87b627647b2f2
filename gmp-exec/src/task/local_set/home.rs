//! What the tasks of a set know of it, and what any thread may touch.
//!
//! One lock around the tasks that were woken from elsewhere and the waker of the set, because a
//! wake-up needs both. Nothing of the user's runs under it: wakers are cloned before, woken and
//! dropped after.

use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;

use event_listener::{Event, Listener};

use crate::contain::contain;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::sync::{Mutex, MutexGuard};
use crate::task::Runnable;
use crate::task::registry::Registry;

thread_local! {
    /// Its address is a thread's own while the thread lives, and it has no destructor.
    static MARK: u8 = const { 0 };
}

fn this_thread() -> usize {
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

pub(crate) struct LocalHome {
    /// The thread of the set.
    thread: usize,
    inbox: Mutex<Inbox>,
    registry: Registry,
    /// Tasks whose futures exist. Only the set's thread writes it.
    live: AtomicUsize,
    /// The set is being dropped, or was: its tasks are to be cancelled. Only the set's thread
    /// writes it.
    is_closed: AtomicBool,
    /// A task came in after the set was closed.
    arrived: Event,
}

#[derive(Default)]
struct Inbox {
    /// Woken on the thread of the set, while that was not polling it.
    own: VecDeque<Runnable>,
    /// Woken by other threads.
    foreign: VecDeque<Runnable>,
    /// Of whoever polls the set; taken by the wake-up.
    waker: Option<Waker>,
}

impl LocalHome {
    pub(super) fn new() -> LocalHome {
        LocalHome {
            thread: this_thread(),
            inbox: Mutex::default(),
            registry: Registry::new(1),
            live: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            arrived: Event::new(),
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    // ---- any thread ----

    /// Takes in a task that was woken while the set was not being polled, or from another thread.
    pub(super) fn push(&self, task: Runnable) {
        let mut inbox = self.lock();
        let tasks = if self.thread == this_thread() { &mut inbox.own } else { &mut inbox.foreign };
        tasks.push_back(task);
        let waker = inbox.waker.take();
        drop(inbox);
        // Whoever polls the set may have any waker. A panic of it is nobody's business who wakes a
        // task, least of all async-task's, which may abort the process.
        contain(|| waker.map(Waker::wake));
        if self.is_closed() {
            self.arrived.notify(usize::MAX);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live.load(Relaxed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock()
    }

    // ---- the thread of the set ----

    /// Has `waker` woken by the next push.
    pub(super) fn register(&self, waker: &Waker) {
        let is_registered = self.lock().waker.as_ref().is_some_and(|old| old.will_wake(waker));
        if !is_registered {
            let new = waker.clone();
            let old = self.lock().waker.replace(new);
            drop(old);
        }
    }

    /// Moves what came in to the tail of `own`, if the set's own thread has woken it, else to that
    /// of `foreign`.
    pub(super) fn move_into(&self, own: &mut VecDeque<Runnable>, foreign: &mut VecDeque<Runnable>) {
        let mut inbox = self.lock();
        own.append(&mut inbox.own);
        foreign.append(&mut inbox.foreign);
    }

    pub(super) fn count_spawned(&self) {
        self.live.store(self.live.load(Relaxed) + 1, Relaxed);
    }

    pub(crate) fn count_finished(&self) {
        self.live.store(self.live.load(Relaxed) - 1, Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Acquire)
    }

    /// From now on no task of the set may begin to wait; those that wait are woken, to be
    /// cancelled. The waker of the set has nothing to do any more.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Release);
        let waker = self.lock().waker.take();
        contain(|| drop(waker));
        self.registry.close();
    }

    /// Waits until a task has come in.
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

/// Without a lock, and without the tasks: each of them would show its home.
impl fmt::Debug for LocalHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHome").field("live", &self.len()).field("is_closed", &self.is_closed()).finish()
    }
}
