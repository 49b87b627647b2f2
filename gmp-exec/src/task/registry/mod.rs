//! The registry of tasks that wait, for abort and shutdown.
//!
//! Shutdown must reach tasks that are in no queue, and an `AbortHandle` must reach its task without
//! keeping its future alive. But a lock on the spawn path costs as much as the spawn (43 ns for a
//! sharded slab, measured). So a task is listed when it first *waits*, not when it is spawned.
//! Until then it is in a queue or running, where shutdown and abort find it anyway, and most short
//! tasks end without ever being listed. Rejected: free slots per processor (5 ns, but every task
//! would pay, and scanning would need a claim protocol).
//!
//! A `LocalSet` has a registry of its own, which lists its tasks when they are spawned. One thread
//! spawns and polls them, so only a walk can contend for the lock, and the walk finds every task.
//!
//! An entry points to the task's header. The pointer is valid because the drop of the
//! [`TaskFuture`](crate::task::cell::future::TaskFuture) removes the entry, under the shard's lock, and
//! async-task frees the header after that drop.
#![allow(unsafe_code, reason = "entries point at headers")]

use std::collections::HashSet;
use std::ptr::{self, NonNull};
use std::task::Waker;

use slab::Slab;

use super::traced;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Mutex, MutexGuard};
use crate::task::cell::header::{Header, List};
use crate::task::cell::home::{Home, HomeRef};
use crate::task::cell::moment::Moment;
use crate::task::observer::Observer;

#[cfg(all(test, loom))]
mod loom_registry;

#[derive(Debug)]
pub(crate) struct Registry {
    shards: Box<[Mutex<Shard>]>,
}

#[derive(Debug)]
struct Shard {
    /// Shutdown has begun: no task may begin to wait.
    closed: bool,
    entries: Slab<Entry>,
    /// The observed tasks that have, or had, an abort handle.
    abortable: HashSet<super::Id>,
}

#[derive(Debug)]
struct Entry {
    header: HeaderPtr,
    /// `None` while the task has not waited yet: the entry was made for an abort handle, or for a
    /// task of a `LocalSet`.
    waker: Option<Waker>,
    /// When the task first waited.
    waited: Option<Moment>,
}

#[derive(Debug)]
struct HeaderPtr(NonNull<Header>);

// SAFETY: a `Header` is `Sync`, and the pointer is only followed under the lock of the shard, where
// it is valid (see the module docs).
unsafe impl Send for HeaderPtr {}

/// A task whose wakers are counted.
#[derive(Debug)]
pub(crate) struct Observed<'a> {
    pub(crate) header: &'a Header,
    pub(crate) observer: &'a Observer,
    /// Whether it has, or had, an abort handle.
    pub(crate) is_abortable: bool,
}

/// Where a walk over the entries goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    shard: usize,
    key: usize,
}

#[must_use]
pub(crate) enum Wait {
    /// The task is listed with its waker and may wait.
    Listed,
    /// The task was aborted or the runtime is shutting down: its future must be dropped.
    Aborted,
}

impl Registry {
    /// `parallelism` is about the number of threads that will use the registry at a time.
    pub(crate) fn new(parallelism: usize) -> Registry {
        // In a model the shard must not depend on the ids that the tasks happen to get.
        let shards = if cfg!(loom) || parallelism == 1 { 1 } else { (4 * parallelism).next_power_of_two().min(256) };
        let shard = || Mutex::new(Shard { closed: false, entries: Slab::new(), abortable: HashSet::new() });
        Registry { shards: (0..shards).map(|_| shard()).collect() }
    }

    /// Lists a task that is about to wait for the first time.
    pub(super) fn wait(&self, header: &Header, waker: &Waker) -> Wait {
        let mut shard = self.shard(header).lock();
        if shard.closed || header.is_aborted() {
            drop(shard);
            return Wait::Aborted;
        }
        if header.listing.wait() {
            shard.insert(header);
        }
        let entry = shard.entry(header);
        entry.waited = Some(Moment::now());
        // An observed task has its waker already.
        entry.waker.get_or_insert_with(|| waker.clone());
        Wait::Listed
    }

    /// The waker of an observed task for a poll, made from async-task's at the first one. The task
    /// is listed from then on. The waker lives as long as the header may be used, which is as long
    /// as the future.
    pub(super) fn observe(&self, header: &'static Header, task: &Waker) -> &'static Waker {
        let mut shard = self.shard(header).lock();
        assert!(shard.list(header), "a task that is polled has not finished");
        let waker = shard.entry(header).waker.get_or_insert_with(|| Observer::observe_in(&header.span, task.clone()));
        let view = Observer::of(waker).expect("made here").view();
        // SAFETY: the view is on the heap, in the observer, to which the waker in the entry has a
        // reference. The entry is removed when the future has been dropped.
        unsafe { &*ptr::from_ref(view) }
    }

    /// Lists a task that has not waited yet. Returns the task's key; `None` if the task has
    /// finished.
    pub(super) fn list(&self, header: &Header) -> Option<u32> {
        let mut shard = self.shard(header).lock();
        shard.list(header).then(|| header.key.load(Relaxed))
    }

    /// The same. The task is known as one that any thread may abort, if it is observed.
    pub(super) fn list_abortable(&self, header: &Header) -> Option<u32> {
        let mut shard = self.shard(header).lock();
        let is_listed = shard.list(header);
        if is_listed && header.is_observed() {
            shard.abortable.insert(header.id);
        }
        is_listed.then(|| header.key.load(Relaxed))
    }

    /// Removes a task whose future has been dropped.
    pub(super) fn remove(&self, header: &Header) {
        let mut shard = self.shard(header).lock();
        let entry = shard.entries.remove(header.key.load(Relaxed) as usize);
        header.listing.removed();
        if header.is_observed() {
            shard.abortable.remove(&header.id);
        }
        drop(shard);
        traced::ended(header);
        drop(entry);
    }

    /// Aborts the task of a header that the caller keeps alive. A task that is not listed looks at its flag
    /// before it waits.
    pub(super) fn abort(&self, header: &Header) {
        header.set_aborted();
        let mut shard = self.shard(header).lock();
        let waker = if header.is_listed() { shard.entry(header).waker.clone() } else { None };
        drop(shard);
        wake_aborted(waker, header.may_wait_for_permit().then_some(&header.home));
    }

    /// Aborts the task `id` that was listed under `key`, if it is still alive.
    pub(super) fn abort_listed(&self, id: super::Id, key: u32) {
        let mut shard = self.shard_of(id).lock();
        let Some(entry) = shard.find(id, key) else { return };
        // SAFETY: entries point at live headers while the shard is locked.
        let header = unsafe { entry.header.0.as_ref() };
        header.set_aborted();
        let waker = entry.waker.clone();
        let home = header.may_wait_for_permit().then(|| header.home.clone());
        drop(shard);
        wake_aborted(waker, home.as_ref());
    }

    pub(super) fn is_alive(&self, id: super::Id, key: u32) -> bool {
        self.shard_of(id).lock().find(id, key).is_some()
    }

    /// From now on no task may begin to wait. Aborts every listed future. A closure never waits: it
    /// is listed only if it has an abort handle. The thread that clears the queues decides whether
    /// the closure still runs.
    pub(crate) fn close(&self) {
        for shard in &self.shards {
            let wakers = shard.lock().close();
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// Shows the tasks of the next keys, at most so many, under the lock of their shard, and when each
    /// first waited. Returns where the walk goes on; `None`: it is over.
    pub(crate) fn look(
        &self,
        at: Position,
        most: usize,
        mut see: impl FnMut(&Header, Option<Moment>),
    ) -> Option<Position> {
        let shard = self.shards.get(at.shard)?.lock();
        Some(self.walk(&shard, at, most, |header, entry| see(header, entry.waited)))
    }

    /// Wakes those of the tasks of the next keys that have waited and that `wants` selects, under
    /// the lock of their shard. The rest as in `look`.
    pub(crate) fn wake_some(
        &self,
        at: Position,
        most: usize,
        mut wants: impl FnMut(&Header) -> bool,
    ) -> Option<Position> {
        let shard = self.shards.get(at.shard)?.lock();
        let mut wakers = Vec::new();
        let next = self.walk(&shard, at, most, |header, entry| {
            wakers.extend(entry.waker.as_ref().filter(|_| wants(header)).cloned());
        });
        drop(shard);
        wakers.into_iter().for_each(Waker::wake);
        Some(next)
    }

    /// The same for the tasks whose wakers are counted.
    pub(crate) fn look_at_observed(
        &self,
        at: Position,
        most: usize,
        mut see: impl FnMut(Observed<'_>),
    ) -> Option<Position> {
        let shard = self.shards.get(at.shard)?.lock();
        Some(self.walk(&shard, at, most, |header, entry| {
            let Some(observer) = entry.waker.as_ref().and_then(Observer::of) else { return };
            see(Observed { header, observer, is_abortable: shard.abortable.contains(&header.id) });
        }))
    }

    /// `shard` is that of the position.
    fn walk(
        &self,
        shard: &MutexGuard<'_, Shard>,
        at: Position,
        most: usize,
        mut see: impl FnMut(&Header, &Entry),
    ) -> Position {
        for key in at.key..at.key + most {
            if let Some(entry) = shard.entries.get(key) {
                // SAFETY: entries point at live headers while the shard is locked.
                see(unsafe { entry.header.0.as_ref() }, entry);
            }
        }
        let key = at.key + most;
        let is_done = key >= shard.entries.capacity();
        if is_done { Position { shard: at.shard + 1, key: 0 } } else { Position { key, ..at } }
    }

    /// How many tasks are listed.
    #[cfg(all(test, any(loom, shuttle)))]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().entries.len()).sum()
    }

    fn shard(&self, header: &Header) -> &Mutex<Shard> {
        self.shard_of(header.id)
    }

    /// Threads take ids in blocks of 64, so one spawner stays in one shard for a while.
    fn shard_of(&self, id: super::Id) -> &Mutex<Shard> {
        &self.shards[(id.as_u64() / 64) as usize & (self.shards.len() - 1)]
    }
}

/// `home`: that of a task that may wait for a permit of a hog. Such a task is found there.
fn wake_aborted(waker: Option<Waker>, home: Option<&HomeRef>) {
    if let Some(waker) = waker {
        waker.wake();
    }
    if let Some(Home::Scheduler(scheduler)) = home.map(|home| &**home) {
        crate::sched::hogs::submit_aborted(scheduler);
    }
}

impl Shard {
    /// Makes sure that there is an entry. Returns `false` if the task has finished.
    fn list(&mut self, header: &Header) -> bool {
        match header.listing.list() {
            List::Finished => return false,
            List::Already => {}
            List::New => self.insert(header),
        }
        true
    }

    fn insert(&mut self, header: &Header) {
        let key = self.entries.insert(Entry { header: HeaderPtr(header.into()), waker: None, waited: None });
        header.key.store(key as u32, Relaxed);
    }

    /// The entry of a task that is listed.
    fn entry(&mut self, header: &Header) -> &mut Entry {
        &mut self.entries[header.key.load(Relaxed) as usize]
    }

    fn find(&mut self, id: super::Id, key: u32) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(key as usize)?;
        // SAFETY: entries point at live headers while the shard is locked.
        (unsafe { entry.header.0.as_ref() }.id == id).then_some(entry)
    }

    fn close(&mut self) -> Vec<Waker> {
        self.closed = true;
        let abort = |(_, entry): (usize, &mut Entry)| {
            // SAFETY: entries point at live headers while the shard is locked.
            let header = unsafe { entry.header.0.as_ref() };
            if header.is_closure() {
                return None;
            }
            header.set_aborted();
            entry.waker.clone()
        };
        self.entries.iter_mut().filter_map(abort).collect()
    }
}
