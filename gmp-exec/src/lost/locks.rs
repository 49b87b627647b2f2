//! Which tasks have locked a mutex or `RwLock` of tokio's or acquired permits of a semaphore, and which
//! tasks wait for one of these: for the dump, which says which tasks wait for each other.
//!
//! The drop-in's locks tell it ([`bridge::Origin`](crate::bridge::Origin)). It is kept only once a
//! runtime of the process has been built that asks for it ([`keep`]): before that, each lock and
//! unlock reads a flag and nothing else. What was locked before is not known.
//!
//! | task that locks | task that unlocks |
//! |---|---|
//! | takes the permit, then is noted | is struck out, then gives the permit back |
//!
//! A lock is a semaphore with one permit or, so that it can have several readers, with many. A task is
//! noted with the number of its permits and the place of its last call; a permit that is forgotten stays
//! noted, because pools forget it and add one when the connection comes back.
//!
//! So a task that is noted for a lock has locked it and not unlocked it. Its guard may be with another
//! task: then that one has to unlock it, and the dump names the one that has locked it. When a task
//! unlocks that is not noted, it is not known whose guard that was, and all are struck out.
//!
//! The permits of a `Semaphore` make no circles: servers give them to other tasks as a rule, and a task
//! that waits for the next permit would seem to wait for itself.
//!
//! A waiting task is noted with the number of its poll. It is struck out when it has locked the
//! mutex, or its future is dropped. A task that has dropped a future of another task strikes out
//! nothing, so a wait counts only while the task waits since that poll.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::task::{Id, Resource};

static IS_KEPT: AtomicBool = AtomicBool::new(false);
static LAST_LOOK: Mutex<Option<Instant>> = Mutex::new(None);

const SHARDS: usize = 16;

/// The locks by their addresses.
static LOCKS: [Mutex<BTreeMap<usize, Lock>>; SHARDS] = [const { Mutex::new(BTreeMap::new()) }; SHARDS];

#[derive(Debug, Default)]
struct Lock {
    /// The tasks that have locked it. Ordered, because thousands of tasks may have permits of one semaphore
    /// or wait for some.
    holders: BTreeMap<Id, Held>,
    wanted: BTreeMap<Id, Want>,
}

/// What a task has of a lock.
#[derive(Clone, Copy, Debug)]
struct Held {
    permits: usize,
    at: Acquired,
}

/// Where a task has locked, or acquired permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acquired {
    /// The place of its last call.
    pub(crate) last: &'static Location<'static>,
    /// Whether it had permits by calls at other places then.
    pub(crate) elsewhere: bool,
}

/// The wait of a task for a lock.
#[derive(Clone, Copy, Debug)]
struct Want {
    /// The number of the poll.
    polls: u32,
    since: Instant,
    resource: Resource,
    /// Where it was created.
    created: &'static Location<'static>,
}

/// A task that waits for a lock or for permits that other tasks have.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) task: Id,
    pub(crate) polls: u32,
    pub(crate) since: Instant,
    pub(crate) resource: Resource,
    pub(crate) created: &'static Location<'static>,
    pub(crate) holders: Holders,
    pub(crate) address: usize,
}

/// The tasks that have locked a lock or have permits. All tasks that wait for it share them.
#[derive(Clone, Debug)]
pub(crate) struct Holders {
    /// The task that was spawned first comes first. Never empty.
    pub(crate) tasks: Arc<[Id]>,
    /// Where the first one has acquired its permits.
    pub(crate) acquired: Acquired,
    /// The permits of all of them.
    pub(crate) permits: usize,
}

impl Holders {
    fn of(lock: &Lock) -> Option<Holders> {
        let acquired = lock.holders.values().next()?.at;
        let permits = lock.holders.values().fold(0, |sum: usize, held| sum.saturating_add(held.permits));
        Some(Holders { tasks: lock.holders.keys().copied().collect(), acquired, permits })
    }
}

/// From now on it is kept.
pub(crate) fn keep() {
    IS_KEPT.store(true, Relaxed);
}

#[inline]
pub(crate) fn are_kept() -> bool {
    IS_KEPT.load(Relaxed)
}

fn shard(address: usize) -> MutexGuard<'static, BTreeMap<usize, Lock>> {
    LOCKS[(address >> 5) % SHARDS].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// `task`: `None` outside of a task. `called`: where it has called the function that has locked.
pub(crate) fn locked(address: usize, permits: usize, task: Option<Id>, called: &'static Location<'static>) {
    let Some(task) = task.filter(|_| permits > 0) else { return };
    let mut locks = shard(address);
    let lock = locks.entry(address).or_default();
    let first = Acquired { last: called, elsewhere: false };
    let held = lock.holders.entry(task).or_insert(Held { permits: 0, at: first });
    let elsewhere = held.at.elsewhere || held.at.last != called;
    *held = Held { permits: held.permits.saturating_add(permits), at: Acquired { last: called, elsewhere } };
    lock.wanted.remove(&task);
}

pub(crate) fn unlocked(address: usize, permits: usize, task: Option<Id>) {
    let mut locks = shard(address);
    if let Some(lock) = locks.get_mut(&address) {
        lock.give_back(permits, task);
        if lock.is_unknown() {
            locks.remove(&address);
        }
    }
}

/// The semaphore at this address ends, or may get another address.
pub(crate) fn ended(address: usize) {
    shard(address).remove(&address);
}

impl Lock {
    fn give_back(&mut self, permits: usize, task: Option<Id>) {
        let Some((task, held)) = task.and_then(|task| self.holders.get_mut(&task).map(|held| (task, held))) else {
            return self.holders.clear();
        };
        held.permits = held.permits.saturating_sub(permits);
        if held.permits == 0 {
            self.holders.remove(&task);
        }
    }

    fn is_unknown(&self) -> bool {
        self.holders.is_empty() && self.wanted.is_empty()
    }
}

/// A task waits in its poll of that number. `created`: where the lock was.
pub(crate) fn wants(address: usize, (task, polls): (Id, u32), resource: Resource, created: &'static Location<'static>) {
    let mut locks = shard(address);
    let lock = locks.entry(address).or_default();
    let want = Want { polls, since: Instant::now(), resource, created };
    lock.wanted.entry(task).and_modify(|want| want.polls = polls).or_insert(want);
}

/// The task has dropped the future that waited.
pub(crate) fn gave_up(address: usize, task: Option<Id>) {
    let Some(task) = task else { return };
    let mut locks = shard(address);
    if let Some(lock) = locks.get_mut(&address) {
        lock.wanted.remove(&task);
        if lock.is_unknown() {
            locks.remove(&address);
        }
    }
}

/// The tasks that wait for a lock or for permits of which holders are known.
pub(crate) fn edges() -> Vec<Edge> {
    let mut edges = Vec::new();
    for shard in &LOCKS {
        let locks = shard.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (&address, lock) in locks.iter().filter(|(_, lock)| !lock.wanted.is_empty()) {
            let Some(holders) = Holders::of(lock) else { continue };
            let edge = |(task, want): (&Id, &Want)| Edge {
                task: *task,
                polls: want.polls,
                since: want.since,
                resource: want.resource,
                created: want.created,
                holders: holders.clone(),
                address,
            };
            edges.extend(lock.wanted.iter().map(edge));
        }
    }
    edges
}

/// Whether a task waits for so long for a lock that another one has. Asked often, this looks four
/// times in that span.
pub(crate) fn any_waits_for(limit: Duration) -> bool {
    let is_long = |edge: &Edge| edge.resource != Resource::Semaphore && edge.since.elapsed() >= limit;
    are_kept() && is_time_to_look(limit / 4) && edges().iter().any(is_long)
}

fn is_time_to_look(pause: Duration) -> bool {
    let mut last = LAST_LOOK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let is_time = last.is_none_or(|last| last.elapsed() >= pause);
    if is_time {
        *last = Some(Instant::now());
    }
    is_time
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: u64) -> Id {
        Id::from_u64(id).unwrap()
    }

    fn waits_of(task: Id) -> Vec<(u32, Id)> {
        let edges = edges().into_iter().filter(|edge| edge.task == task);
        edges
            .flat_map(|edge| edge.holders.tasks.iter().map(|holder| (edge.polls, *holder)).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn a_task_waits_for_the_one_that_has_locked() {
        let (address, [holder, waits]) = (usize::MAX - 31, [1 << 40, (1 << 40) + 1].map(id));
        wants(address, (waits, 3), Resource::Mutex, Location::caller());
        assert_eq!(waits_of(waits), [], "it is not known who has locked it");
        locked(address, 1, Some(holder), Location::caller());
        assert_eq!(waits_of(waits), [(3, holder)]);
        wants(address, (waits, 5), Resource::Mutex, Location::caller());
        assert_eq!(waits_of(waits), [(5, holder)]);
        unlocked(address, 1, Some(holder));
        assert_eq!(waits_of(waits), []);
        locked(address, 1, Some(waits), Location::caller());
        wants(address, (holder, 1), Resource::Mutex, Location::caller());
        assert_eq!((waits_of(waits), waits_of(holder)), (vec![], vec![(1, waits)]));
        gave_up(address, Some(holder));
        assert_eq!(waits_of(holder), []);
        unlocked(address, 1, Some(waits));
        assert!(!shard(address).contains_key(&address));
    }

    #[test]
    fn a_lock_has_several_readers_and_what_is_not_certain_is_forgotten() {
        let (address, [first, second, writer]) = (usize::MAX - 95, [1 << 41, (1 << 41) + 1, (1 << 41) + 2].map(id));
        wants(address, (writer, 1), Resource::Mutex, Location::caller());
        locked(address, 1, Some(first), Location::caller());
        locked(address, 1, Some(second), Location::caller());
        assert_eq!(waits_of(writer), [(1, first), (1, second)]);
        unlocked(address, 1, Some(first));
        assert_eq!(waits_of(writer), [(1, second)]);
        locked(address, 1, Some(first), Location::caller());
        unlocked(address, 1, None);
        assert_eq!(waits_of(writer), []);
        gave_up(address, Some(writer));
        assert!(!shard(address).contains_key(&address));
    }

    /// As a pool of connections: a permit is forgotten, and added when the connection comes back.
    #[test]
    fn a_task_has_as_many_permits_as_it_has_acquired_and_not_given_back() {
        let (address, [first, second, waits]) = (usize::MAX - 159, [1 << 42, (1 << 42) + 1, (1 << 42) + 2].map(id));
        wants(address, (waits, 1), Resource::Semaphore, Location::caller());
        locked(address, 3, Some(first), Location::caller());
        locked(address, 1, Some(second), Location::caller());
        locked(address, 1, Some(first), Location::caller());
        unlocked(address, 3, Some(first));
        assert_eq!(waits_of(waits), [(1, first), (1, second)], "each once, and in this order");
        unlocked(address, 1, Some(first));
        assert_eq!(waits_of(waits), [(1, second)]);
        ended(address);
        assert_eq!(waits_of(waits), []);
        assert!(!shard(address).contains_key(&address));
    }

    #[test]
    fn the_holders_are_told_with_their_permits_and_the_last_place() {
        let (address, [first, second, waits]) = (usize::MAX - 223, [1 << 43, (1 << 43) + 1, (1 << 43) + 2].map(id));
        let holders = || edges().into_iter().find(|edge| edge.task == waits).unwrap().holders;
        let here = Location::caller();
        let there = Location::caller();
        wants(address, (waits, 1), Resource::Semaphore, here);
        locked(address, 2, Some(first), here);
        locked(address, 1, Some(second), there);
        assert_eq!((&*holders().tasks, holders().permits), (&[first, second][..], 3));
        locked(address, 1, Some(first), here);
        assert_eq!(holders().acquired, Acquired { last: here, elsewhere: false });
        locked(address, 1, Some(first), there);
        assert_eq!((holders().acquired, holders().permits), (Acquired { last: there, elsewhere: true }, 5));
        unlocked(address, 4, Some(first));
        locked(address, 1, Some(first), here);
        assert_eq!(holders().acquired, Acquired { last: here, elsewhere: false }, "what was given back is forgotten");
        ended(address);
    }
}
