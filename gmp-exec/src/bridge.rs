//! State that the drop-in's copy of tokio's `sync` and `io` shares with this executor. Not a public
//! interface.
//!
//! Those types take units of the running task's budget, and refuse to block a thread that runs
//! tasks. This executor keeps both facts, so those types ask here. A second set of thread-locals
//! would have to be kept in step at each poll.

use std::io;
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use crate::context::{self, Entered};
use crate::lost::locks;
use crate::runtime::Handle;
use crate::seeded;
use crate::sys::{seccomp, sigurg};
use crate::task::{AtShutdown, Id, JoinHandle, MOST, Place, SyncWait, Wait, coop, leaf, spawn_blocking_on, try_id};

pub use crate::dump::{ChannelEntry, ChannelState, MANY, ReadKind, Reading};
pub use crate::task::Resource;

/// Units left to the running task; `None` where nothing is limited.
#[inline]
pub fn budget() -> Option<u8> {
    context::budget()
}

/// Sets the value that [`budget`] returns on this thread.
#[inline]
pub fn set_budget(units: Option<u8>) {
    context::set_budget(units);
}

/// Wakes a future whose budget is used up, after other tasks have been polled.
pub fn defer(waker: &Waker) {
    context::defer_forced(waker);
}

/// Whether a future that is about to check its budget is to yield in any case, because this is a
/// seeded run. Then it will be woken.
#[inline]
pub fn must_yield(cx: &Context<'_>) -> bool {
    coop::yields_in_seeded_run(cx)
}

/// Whether this thread runs tasks, so that blocking it on another future is forbidden.
#[inline]
pub fn is_entered() -> bool {
    context::entered() != Entered::Nothing
}

/// Whether a filter of system calls has come since the first runtime was built. The filter may end the
/// process at calls that its author did not expect. Takes less than 1 µs.
///
/// In a seeded run it is as if there were one: such calls go past the C library, in whose place the
/// run puts its own functions.
pub fn filter_has_come() -> bool {
    seeded::is_on() || seccomp::has_come()
}

/// Calls `sleep`, which waits in the kernel for lack of work, and neither allocates nor takes a lock.
#[inline]
pub fn asleep<R>(sleep: impl FnOnce() -> R) -> R {
    sigurg::asleep(sleep)
}

/// Notes that the running task waits until a descriptor is readable. What a task waits for is in
/// its [`TaskInfo`](crate::runtime::TaskInfo). Outside of a task nothing happens.
#[inline]
pub fn wait_readable(fd: i32) {
    context::note_wait(Wait::Readable(fd));
}

/// Notes that the running task waits until a descriptor is writable.
#[inline]
pub fn wait_writable(fd: i32) {
    context::note_wait(Wait::Writable(fd));
}

/// What a lock or channel of tokio's is, where it was created, and the capacity of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    resource: Resource,
    capacity: u32,
    created: &'static Location<'static>,
}

impl Origin {
    /// A value that the caller creates.
    #[inline]
    #[track_caller]
    pub const fn here(resource: Resource) -> Origin {
        Origin { resource, capacity: 0, created: Location::caller() }
    }

    /// The same for a channel with that capacity.
    #[inline]
    pub const fn with_capacity(self, capacity: usize) -> Origin {
        Origin { capacity: if capacity > MOST as usize { MOST } else { capacity as u32 }, ..self }
    }

    /// The same as another kind of lock or channel.
    #[inline]
    pub const fn of(self, resource: Resource) -> Origin {
        Origin { resource, ..self }
    }

    /// Where it was created.
    #[inline]
    pub const fn place(&self) -> &'static Location<'static> {
        self.created
    }

    /// Notes that the running task waits for this.
    pub fn wait(&self) {
        self.note_wait(0);
    }

    /// Notes that the running task waits for a message of a channel that has so many senders.
    pub fn wait_for_message(&self, senders: usize) {
        self.note_wait(senders as u32);
    }

    /// Notes that the running task waits for so many permits of the semaphore at that address.
    pub fn wait_for_permits(&self, permits: usize, address: usize) {
        self.note_wait(permits.min(MOST as usize) as u32);
        // The future of `block_on` has no id, by which it could be struck out.
        if self.is_kept()
            && let Some(poll) = context::running_poll().filter(|(task, _)| try_id() == Some(*task))
        {
            locks::wants(address, poll, self.resource, self.created);
        }
    }

    fn note_wait(&self, permits: u32) {
        let amount = if self.capacity == 0 { permits } else { self.capacity };
        context::set_leaf(None);
        context::note_wait(Wait::Sync(SyncWait { resource: self.resource, amount, created: self.created }));
    }

    /// The running task has dropped a future that waited for permits.
    #[inline]
    pub fn gave_up(&self, address: usize) {
        self.tell(address, 0, |address, _, task| locks::gave_up(address, task));
    }

    /// The running task has acquired so many permits of the semaphore at that address, by a call at that
    /// place. If the semaphore is that of a lock, the task has locked the lock.
    #[inline]
    pub fn locked(&self, address: usize, permits: usize, called: &'static Location<'static>) {
        if locks::are_kept() {
            self.tell_locked(address, permits, called);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_locked(&self, address: usize, permits: usize, called: &'static Location<'static>) {
        if self.is_kept() {
            locks::locked(address, permits, try_id(), called);
        }
    }

    /// The running task is about to give so many permits back.
    #[inline]
    pub fn unlocked(&self, address: usize, permits: usize) {
        self.tell(address, permits, locks::unlocked);
    }

    /// The semaphore ends, perhaps with permits that were forgotten.
    #[inline]
    pub fn ended(&self, address: usize) {
        self.tell(address, 0, |address, _, _| locks::ended(address));
    }

    #[inline]
    fn tell(&self, address: usize, permits: usize, what: fn(usize, usize, Option<Id>)) {
        if locks::are_kept() {
            self.tell_now(address, permits, what);
        }
    }

    #[cold]
    fn tell_now(&self, address: usize, permits: usize, what: fn(usize, usize, Option<Id>)) {
        if self.is_kept() {
            what(address, permits, try_id());
        }
    }

    #[inline]
    fn is_kept(&self) -> bool {
        locks::are_kept() && matches!(self.resource, Resource::Mutex | Resource::RwLock | Resource::Semaphore)
    }
}

/// A leaf future is polled at the caller's place. If it has to wait, [`leaf_waits`] follows, else
/// [`leaf_is_ready`]. `Pending`: the poll is traced, and the future must do nothing.
#[inline]
#[track_caller]
pub fn poll_leaf(cx: &mut Context<'_>) -> Poll<()> {
    context::set_leaf(Some(Location::caller()));
    leaf(cx)
}

/// A leaf future is polled that notes itself where it waits. `Pending`: the poll is traced, and the
/// future must do nothing.
#[inline]
pub fn trace_leaf(cx: &mut Context<'_>) -> Poll<()> {
    leaf(cx)
}

/// Notes that the running task waits at the last leaf, if that has not said so itself.
pub fn leaf_waits() {
    if let Some(place) = context::take_leaf() {
        context::note_wait(Wait::At(place));
    }
}

/// The last leaf does not have to wait.
#[inline]
pub fn leaf_is_ready() {
    context::set_leaf(None);
}

/// A random number from the seed of the runtime; `None` where there is no seed.
pub fn seeded_random() -> Option<u32> {
    context::seeded_random()
}

/// Runs a closure that may block and leaves its thread as it was; see
/// [`spawn_blocking_in_place`](crate::task::spawn_blocking_in_place).
///
/// # Errors
///
/// Fails if the system can't start a thread that the closure needs. The closure is dropped.
///
/// # Panics
///
/// Panics if called outside of a runtime.
#[track_caller]
pub fn spawn_in_place<R: Send + 'static>(
    at_shutdown: AtShutdown,
    f: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    let runtime = Handle::current();
    spawn_blocking_on(runtime.scheduler(), at_shutdown, Some(Place::Machine), f, Location::caller(), None)
}
