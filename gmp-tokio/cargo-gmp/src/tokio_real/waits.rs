//! The edits by which locks and channels tell what a task waits for, where that was created, and
//! which task has locked a lock.
//!
//! The public constructors have `#[track_caller]`, or get it, and their values keep the place: 16
//! bytes more for each semaphore, `Notify` and channel. A value that tokio makes itself, as in
//! `Default`, has a place in tokio, which the dump leaves out. With the feature `tracing` tokio
//! makes some values in a closure, whose place is tokio's, so the place is set outside of it.

use super::edits::Edit;

/// Each text must be in its file exactly once.
pub(super) const WAITS: &[Edit] = &[
    Edit {
        name: "origins: a semaphore has one",
        file: "src/sync/batch_semaphore.rs",
        find: "    permits: AtomicUsize,\n    #[cfg",
        replace: "    permits: AtomicUsize,\n    pub(crate) origin: gmp_exec::bridge::Origin,\n    #[cfg",
    },
    Edit {
        name: "origins: a semaphore of tokio's",
        file: "src/sync/batch_semaphore.rs",
        find: "            permits: AtomicUsize::new(permits << Self::PERMIT_SHIFT),\n            waiters: Mutex::new(",
        replace: "            permits: AtomicUsize::new(permits << Self::PERMIT_SHIFT),\n            origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore),\n            waiters: Mutex::new(",
    },
    Edit {
        name: "origins: a constant semaphore of tokio's",
        file: "src/sync/batch_semaphore.rs",
        find: "            permits: AtomicUsize::new(permits << Self::PERMIT_SHIFT),\n            waiters: Mutex::const_new(",
        replace: "            permits: AtomicUsize::new(permits << Self::PERMIT_SHIFT),\n            origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore),\n            waiters: Mutex::const_new(",
    },
    Edit {
        name: "origins: a closed semaphore of tokio's",
        file: "src/sync/batch_semaphore.rs",
        find: "            permits: AtomicUsize::new(Self::CLOSED),\n            waiters: Mutex::new(",
        replace: "            permits: AtomicUsize::new(Self::CLOSED),\n            origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore),\n            waiters: Mutex::new(",
    },
    Edit {
        name: "origins: a constant closed semaphore of tokio's",
        file: "src/sync/batch_semaphore.rs",
        find: "            permits: AtomicUsize::new(Self::CLOSED),\n            waiters: Mutex::const_new(",
        replace: "            permits: AtomicUsize::new(Self::CLOSED),\n            origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore),\n            waiters: Mutex::const_new(",
    },
    Edit {
        name: "origins: the origin of a semaphore",
        file: "src/sync/batch_semaphore.rs",
        find: "    /// Returns the current number of available permits.\n",
        replace: "    pub(crate) const fn with(mut self, origin: gmp_exec::bridge::Origin) -> Self {\n        self.origin = origin;\n        self\n    }\n\n    fn address(&self) -> usize {\n        (self as *const Self).addr()\n    }\n\n    /// Returns the current number of available permits.\n",
    },
    Edit {
        name: "holders: a lock that was tried",
        file: "src/sync/batch_semaphore.rs",
        find: "                Ok(_) => {\n                    // TODO: Instrument once issue has been solved\n                    return Ok(());\n",
        replace: "                Ok(_) => {\n                    self.origin.locked(self.address());\n                    return Ok(());\n",
    },
    Edit {
        name: "holders: the end of a guard",
        file: "src/sync/batch_semaphore.rs",
        find: "        // Assign permits to the wait queue\n        self.add_permits_locked(added, self.waiters.lock());\n",
        replace: "        self.origin.unlocked(self.address());\n        // Assign permits to the wait queue\n        self.add_permits_locked(added, self.waiters.lock());\n",
    },
    Edit {
        name: "waits: a task waits for a semaphore",
        file: "src/sync/batch_semaphore.rs",
        find: "            Poll::Pending => Poll::Pending,\n            Poll::Ready(r) => {\n                r?;\n",
        replace: "            Poll::Pending => {\n                semaphore.origin.wait_for_permits(needed, semaphore.address());\n                Poll::Pending\n            }\n            Poll::Ready(r) => {\n                r?;\n",
    },
    Edit {
        name: "holders: a lock",
        file: "src/sync/batch_semaphore.rs",
        find: "                coop.made_progress();\n                Poll::Ready(Ok(()))\n",
        replace: "                coop.made_progress();\n                semaphore.origin.locked(semaphore.address());\n                Poll::Ready(Ok(()))\n",
    },
    Edit {
        name: "waits: a task no longer waits for a semaphore",
        file: "src/sync/batch_semaphore.rs",
        find: "        if !self.queued {\n            return;\n        }\n",
        replace: "        if !self.queued {\n            return;\n        }\n        self.semaphore.origin.gave_up(self.semaphore.address());\n",
    },
    Edit {
        name: "origins: a mutex",
        file: "src/sync/mutex.rs",
        find: "        let s = semaphore::Semaphore::new(1);\n",
        replace: "        let s = semaphore::Semaphore::new(1).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Mutex));\n",
    },
    Edit {
        name: "origins: a mutex of tokio-console's",
        file: "src/sync/mutex.rs",
        find: "            semaphore::Semaphore::new(1)\n        });",
        replace: "            semaphore::Semaphore::new(1)\n        }).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Mutex));",
    },
    Edit {
        name: "origins: a constant mutex",
        file: "src/sync/mutex.rs",
        find: "semaphore::Semaphore::const_new(1),",
        replace: "semaphore::Semaphore::const_new(1).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Mutex)),",
    },
    Edit {
        name: "origins: the place of a constant mutex",
        file: "src/sync/mutex.rs",
        find: "    pub const fn const_new(t: T) -> Self\n",
        replace: "    #[track_caller]\n    pub const fn const_new(t: T) -> Self\n",
    },
    Edit {
        name: "origins: a read-write lock",
        file: "src/sync/rwlock.rs",
        find: "        let s = Semaphore::new(MAX_READS as usize);\n",
        replace: "        let s = Semaphore::new(MAX_READS as usize).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::RwLock));\n",
    },
    Edit {
        name: "origins: a read-write lock of tokio-console's",
        file: "src/sync/rwlock.rs",
        find: "|| Semaphore::new(MAX_READS as usize))",
        replace: "|| Semaphore::new(MAX_READS as usize)).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::RwLock))",
    },
    Edit {
        name: "origins: a constant read-write lock",
        file: "src/sync/rwlock.rs",
        find: "Semaphore::const_new(MAX_READS as usize),",
        replace: "Semaphore::const_new(MAX_READS as usize).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::RwLock)),",
    },
    Edit {
        name: "origins: a read-write lock with a limit",
        file: "src/sync/rwlock.rs",
        find: "        let s = Semaphore::new(max_reads as usize);\n",
        replace: "        let s = Semaphore::new(max_reads as usize).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::RwLock));\n",
    },
    Edit {
        name: "origins: a read-write lock of tokio-console's with a limit",
        file: "src/sync/rwlock.rs",
        find: "|| Semaphore::new(max_reads as usize))",
        replace: "|| Semaphore::new(max_reads as usize)).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::RwLock))",
    },
    Edit {
        name: "origins: a constant read-write lock with a limit",
        file: "src/sync/rwlock.rs",
        find: "Semaphore::const_new(max_reads as usize),",
        replace: "Semaphore::const_new(max_reads as usize).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::RwLock)),",
    },
    Edit {
        name: "origins: the place of a constant read-write lock",
        file: "src/sync/rwlock.rs",
        find: "    pub const fn const_new(value: T) -> RwLock<T>\n",
        replace: "    #[track_caller]\n    pub const fn const_new(value: T) -> RwLock<T>\n",
    },
    Edit {
        name: "origins: a semaphore",
        file: "src/sync/semaphore.rs",
        find: "        let ll_sem = ll::Semaphore::new(permits);",
        replace: "        let ll_sem = ll::Semaphore::new(permits).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore));",
    },
    Edit {
        name: "origins: a semaphore of tokio-console's",
        file: "src/sync/semaphore.rs",
        find: "|| ll::Semaphore::new(permits))",
        replace: "|| ll::Semaphore::new(permits)).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore))",
    },
    Edit {
        name: "origins: a constant semaphore",
        file: "src/sync/semaphore.rs",
        find: "ll_sem: ll::Semaphore::const_new(permits),",
        replace: "ll_sem: ll::Semaphore::const_new(permits).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Semaphore)),",
    },
    Edit {
        name: "origins: the place of a constant semaphore",
        file: "src/sync/semaphore.rs",
        find: "    pub const fn const_new(permits: usize) -> Self {",
        replace: "    #[track_caller]\n    pub const fn const_new(permits: usize) -> Self {",
    },
    Edit {
        name: "origins: the semaphore of a cell",
        file: "src/sync/semaphore.rs",
        find: "    /// Creates a new closed semaphore with 0 permits.\n    pub(crate) fn new_closed() -> Self {",
        replace: "    pub(crate) const fn with(mut self, origin: gmp_exec::bridge::Origin) -> Self {\n        self.ll_sem.origin = origin;\n        self\n    }\n\n    /// Creates a new closed semaphore with 0 permits.\n    pub(crate) fn new_closed() -> Self {",
    },
    Edit {
        name: "origins: a cell",
        file: "src/sync/once_cell.rs",
        find: "semaphore: Semaphore::new(1),",
        replace: "semaphore: Semaphore::new(1).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::OnceCell)),",
    },
    Edit {
        name: "origins: a constant cell",
        file: "src/sync/once_cell.rs",
        find: "semaphore: Semaphore::const_new(1),",
        replace: "semaphore: Semaphore::const_new(1).with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::OnceCell)),",
    },
    Edit {
        name: "origins: the place of a cell",
        file: "src/sync/once_cell.rs",
        find: "    pub fn new() -> Self {",
        replace: "    #[track_caller]\n    pub fn new() -> Self {",
    },
    Edit {
        name: "origins: the place of a constant cell",
        file: "src/sync/once_cell.rs",
        find: "    pub const fn const_new() -> Self {",
        replace: "    #[track_caller]\n    pub const fn const_new() -> Self {",
    },
    Edit {
        name: "origins: the semaphore of a channel",
        file: "src/sync/mpsc/bounded.rs",
        find: "        semaphore: semaphore::Semaphore::new(buffer),\n        bound: buffer,\n    };\n    let (tx, rx) = chan::channel(semaphore);",
        replace: "        semaphore: semaphore::Semaphore::new(buffer)\n            .with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Sender).with_capacity(buffer)),\n        bound: buffer,\n    };\n    let (tx, rx) = chan::channel(semaphore);",
    },
    Edit {
        name: "origins: the place of an unbounded channel",
        file: "src/sync/mpsc/unbounded.rs",
        find: "pub fn unbounded_channel<T>() ->",
        replace: "#[track_caller]\npub fn unbounded_channel<T>() ->",
    },
    Edit {
        name: "origins: a channel has one",
        file: "src/sync/mpsc/chan.rs",
        find: "    semaphore: S,\n\n    /// Tracks the number of outstanding sender",
        replace: "    semaphore: S,\n\n    origin: gmp_exec::bridge::Origin,\n\n    /// Tracks the number of outstanding sender",
    },
    Edit {
        name: "origins: the place of a channel",
        file: "src/sync/mpsc/chan.rs",
        find: "pub(crate) fn channel<T, S: Semaphore>(semaphore: S)",
        replace: "#[track_caller]\npub(crate) fn channel<T, S: Semaphore>(semaphore: S)",
    },
    Edit {
        name: "origins: the place of a channel's value",
        file: "src/sync/mpsc/chan.rs",
        find: "fn channel_from_list<T, S: Semaphore>(",
        replace: "#[track_caller]\nfn channel_from_list<T, S: Semaphore>(",
    },
    Edit {
        name: "origins: a channel",
        file: "src/sync/mpsc/chan.rs",
        find: "        notify_rx_closed: Notify::new(),",
        replace: "        origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Receiver),\n        notify_rx_closed: Notify::new().with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Closed)),",
    },
    Edit {
        name: "waits: a task waits for a message",
        file: "src/sync/mpsc/chan.rs",
        find: "                coop.made_progress();\n                Ready(None)\n            } else {\n                Pending\n",
        replace: "                coop.made_progress();\n                Ready(None)\n            } else {\n                self.inner.origin.wait_for_message(self.inner.tx_count.load(Relaxed));\n                Pending\n",
    },
    Edit {
        name: "waits: a task waits for messages",
        file: "src/sync/mpsc/chan.rs",
        find: "                Ready(0usize)\n            } else {\n                Pending\n",
        replace: "                Ready(0usize)\n            } else {\n                self.inner.origin.wait_for_message(self.inner.tx_count.load(Relaxed));\n                Pending\n",
    },
    Edit {
        name: "origins: a notify has one",
        file: "src/sync/notify.rs",
        find: "    waiters: Mutex<LinkedList<Waiter>>,\n}",
        replace: "    waiters: Mutex<LinkedList<Waiter>>,\n    origin: gmp_exec::bridge::Origin,\n}",
    },
    Edit {
        name: "origins: a notify",
        file: "src/sync/notify.rs",
        find: "    pub fn new() -> Notify {\n        Notify {\n",
        replace: "    #[track_caller]\n    pub fn new() -> Notify {\n        Notify {\n            origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Notify),\n",
    },
    Edit {
        name: "origins: a constant notify",
        file: "src/sync/notify.rs",
        find: "    pub const fn const_new() -> Notify {\n        Notify {\n",
        replace: "    #[track_caller]\n    pub const fn const_new() -> Notify {\n        Notify {\n            origin: gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Notify),\n",
    },
    Edit {
        name: "origins: a notify of a channel",
        file: "src/sync/notify.rs",
        find: "    /// Wait for a notification.\n    ///\n    /// Equivalent to:\n    ///\n    /// ```ignore\n    /// async fn notified(&self);",
        replace: "    pub(crate) fn with(mut self, origin: gmp_exec::bridge::Origin) -> Notify {\n        self.origin = origin;\n        self\n    }\n\n    /// Wait for a notification.\n    ///\n    /// Equivalent to:\n    ///\n    /// ```ignore\n    /// async fn notified(&self);",
    },
    Edit {
        name: "waits: a task waits for a notification",
        file: "src/sync/notify.rs",
        find: "                    drop(waiters);\n                    drop(old_waker);\n\n                    return Poll::Pending;\n",
        replace: "                    drop(waiters);\n                    drop(old_waker);\n\n                    notify.origin.wait();\n                    return Poll::Pending;\n",
    },
    Edit {
        name: "waits: a task still waits for a notification",
        file: "src/sync/notify.rs",
        find: "                        drop(waiters);\n                        drop(old_waker);\n\n                        return Poll::Pending;\n",
        replace: "                        drop(waiters);\n                        drop(old_waker);\n\n                        notify.origin.wait();\n                        return Poll::Pending;\n",
    },
    Edit {
        name: "origins: the place of a watch",
        file: "src/sync/watch.rs",
        find: "pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {",
        replace: "#[track_caller]\npub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {",
    },
    Edit {
        name: "origins: the end of a watch's receivers",
        file: "src/sync/watch.rs",
        find: "        notify_tx: Notify::new(),\n",
        replace: "        notify_tx: Notify::new().with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Closed)),\n",
    },
    Edit {
        name: "origins: the place of a watch's value",
        file: "src/sync/watch.rs",
        find: "    impl BigNotify {\n        pub(super) fn new() -> Self {\n",
        replace: "    impl BigNotify {\n        #[track_caller]\n        pub(super) fn new() -> Self {\n",
    },
    Edit {
        name: "origins: a watch",
        file: "src/sync/watch.rs",
        find: "                inner: Default::default(),\n",
        replace: "                inner: {\n                    let origin = gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Watch);\n                    [(); 8].map(|()| Notify::new().with(origin))\n                },\n",
    },
    Edit {
        name: "origins: the end of a broadcast's receivers",
        file: "src/sync/broadcast.rs",
        find: "notify_last_rx_drop: Notify::new(),",
        replace: "notify_last_rx_drop: Notify::new().with(gmp_exec::bridge::Origin::here(gmp_exec::bridge::Resource::Closed)),",
    },
];
