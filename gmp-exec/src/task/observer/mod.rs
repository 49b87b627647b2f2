//! The wakers of an observed task, which are counted, so that a task that no waker can reach any
//! more is found (`lost`).
//!
//! The future of an observed task is polled with an *observing waker*. It forwards to async-task's
//! own waker. The count in the [`Observer`] is that of the observing wakers that exist. One of them
//! is the registry's, made at the first poll: abort and shutdown use it to wake the task. The waker
//! of the poll under way is a part of the observer and is not counted; its clones are.
//!
//! | a waker that is woken by value | the check |
//! |---|---|
//! | W1 forwards: async-task calls `schedule` (`progress`, S) | C1 reads the count (Acquire) |
//! | W2 count - 1 (Release) | C2 reads state and note |
//!
//! *Claim: if C1 finds the registry's waker alone, and C2 finds that the task waits, no wake-up is
//! under way outside of a poll.* A waker that is gone at C1 was dropped unused, or its W1 has
//! happened before C2. A waker makes another one only while it is counted itself, so the count
//! can't grow again. *With W2 before W1* the check finds no waker and a task that waits, and the
//! task is scheduled after it. *With a relaxed W2 or C1* the same, because C2 may read an older
//! note. The relaxed increment of a clone is enough: the waker that is cloned stays counted.
//!
//! A wake-up *during* a poll is scheduled by async-task after the poll: `lost` says how the
//! check waits for that. Model: `loom_lost_*`.
#![allow(unsafe_code, reason = "makes wakers from their parts")]

pub(in crate::task) mod joining;

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Weak;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Arc, Mutex};
use crate::task::Id;
use crate::task::console::span::SpanId;
use crate::task::console::waker_events::{self, WakerEvents};

/// The registry's waker.
const OWN: usize = 1;

/// A holder of one of the wakers, which can use the waker in one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The handle of this task: the waker is used at the end of the task.
    Task(Id),
    /// The `LocalSet` of this address: the waker is used when a task of the set is woken.
    Set(usize),
}

#[derive(Debug)]
pub(crate) struct Observer {
    /// async-task's waker of the task.
    task: Waker,
    /// How many wakers with [`VTABLE`] there are, without `view`.
    wakers: AtomicUsize,
    /// The holders of one waker each (`joining`).
    joins: Mutex<Vec<Awaited>>,
    /// The waker of the polls. It is not counted, and owns no reference.
    view: ManuallyDrop<Waker>,
    /// What the wakers report, if the task has a span.
    #[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "no waker reports anything"))]
    pub(in crate::task) events: WakerEvents,
}

/// A `static`, because its address identifies observing wakers, except those that emit events.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

impl Observer {
    /// The first observing waker of a future without a span.
    pub(crate) fn observe(task: Waker) -> Waker {
        Observer::observe_in(&SpanId::default(), task)
    }

    /// Returns the first observing waker of a task, which is not to be given to the task. `span`:
    /// that of the task.
    pub(in crate::task) fn observe_in(span: &SpanId, task: Waker) -> Waker {
        let events = WakerEvents::of(span);
        let observer = Arc::new_cyclic(|observer: &Weak<Observer>| {
            // SAFETY: the address is that of the observer which owns the waker, so it is valid as
            // long as the waker can be used. The waker is never dropped, so it needs no reference.
            let view = unsafe { Waker::new(observer.as_ptr().cast(), events.table(&VTABLE)) };
            let view = ManuallyDrop::new(view);
            Observer { task, wakers: AtomicUsize::new(OWN), joins: Mutex::default(), view, events }
        });
        // SAFETY: the waker owns a reference to the observer, and is counted. `VTABLE` expects
        // that.
        unsafe { Waker::new(Arc::into_raw(observer).cast(), &VTABLE) }
    }

    /// The observer of an observing waker; `None` for other wakers.
    #[inline]
    pub(crate) fn of(waker: &Waker) -> Option<&Observer> {
        // SAFETY: an observing waker owns a reference to an observer, and is borrowed for as long
        // as the result.
        Observer::is_of(waker).then(|| unsafe { &*waker.data().cast::<Observer>() })
    }

    /// The waker for a poll.
    pub(crate) fn view(&self) -> &Waker {
        &self.view
    }

    /// Whether the waker is an observing one.
    #[inline]
    pub(in crate::task) fn is_of(waker: &Waker) -> bool {
        ptr::eq(waker.vtable(), &VTABLE) || waker_events::is_loud(waker.vtable())
    }

    /// The holders, if no waker is left but the first one and those of the holders.
    pub(crate) fn only_joins(&self) -> Option<Vec<Awaited>> {
        let joins = self.joins.lock();
        (self.wakers.load(Acquire) == OWN + joins.len()).then(|| joins.clone()) // C1
    }

    /// The tasks that are awaited, if no waker is left but the first one and those in their
    /// handles.
    pub(crate) fn only_tasks(&self) -> Option<Vec<Id>> {
        let task = |awaited| match awaited {
            Awaited::Task(id) => Some(id),
            Awaited::Set(_) => None,
        };
        self.only_joins()?.into_iter().map(task).collect()
    }

    /// One of the counted wakers is about to go into the handle of a task, or into a set.
    pub(in crate::task) fn begin_join(&self, awaited: Awaited) {
        self.joins.lock().push(awaited);
    }

    /// Such a waker is about to be dropped.
    pub(in crate::task) fn end_join(&self, awaited: Awaited) {
        let mut joins = self.joins.lock();
        let index = joins.iter().position(|join| *join == awaited).expect("each join ends once");
        joins.remove(index);
    }
}

/// # Safety
///
/// `data` is that of a waker with [`VTABLE`], which owns a reference. The same holds for the four
/// functions below, as `RawWakerVTable` promises.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: as of this function.
    unsafe { add_waker(data) };
    RawWaker::new(data, &VTABLE)
}

/// Counts another waker, and makes its reference.
pub(in crate::task) unsafe fn add_waker(data: *const ()) {
    // SAFETY: the waker that is cloned owns a reference.
    unsafe { get(data) }.wakers.fetch_add(1, Relaxed);
    // SAFETY: `data` comes from `Arc::into_raw`, and the waker that is cloned owns a reference.
    unsafe { Arc::increment_strong_count(data.cast::<Observer>()) };
}

pub(in crate::task) unsafe fn wake(data: *const ()) {
    // SAFETY: as of this function.
    unsafe { wake_by_ref(data) }; // W1
    // SAFETY: as of this function, and the waker is gone afterwards.
    unsafe { drop_waker(data) };
}

pub(in crate::task) unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker owns a reference.
    unsafe { get(data) }.task.wake_by_ref();
}

pub(in crate::task) unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker's reference, which it gives up here.
    let observer = unsafe { Arc::from_raw(data.cast::<Observer>()) };
    observer.wakers.fetch_sub(1, Release); // W2
}

/// # Safety
///
/// `data` is that of an observing waker which outlives the result.
pub(in crate::task) unsafe fn get<'a>(data: *const ()) -> &'a Observer {
    // SAFETY: `data` comes from `Arc::into_raw`, and by the contract a reference is owned.
    unsafe { &*data.cast::<Observer>() }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn observed() -> (Arc<Woken>, Waker) {
        let woken = Arc::<Woken>::default();
        (woken.clone(), Observer::observe(Waker::from(woken)))
    }

    fn count(waker: &Waker) -> usize {
        Observer::of(waker).unwrap().wakers.load(Relaxed)
    }

    fn has_no_waker(waker: &Waker) -> bool {
        Observer::of(waker).unwrap().only_joins().is_some()
    }

    #[test]
    fn clones_are_counted_until_they_are_dropped_or_woken() {
        let (woken, own) = observed();
        assert!(has_no_waker(&own));
        let (one, other) = (own.clone(), own.clone());
        assert_eq!(count(&own), 3);
        assert!(!has_no_waker(&own));
        one.wake_by_ref();
        assert_eq!((woken.0.load(Relaxed), count(&own)), (1, 3));
        one.wake();
        assert_eq!((woken.0.load(Relaxed), count(&own)), (2, 2));
        drop(other);
        assert_eq!((woken.0.load(Relaxed), count(&own)), (2, 1));
        assert!(has_no_waker(&own));
    }

    #[test]
    fn a_view_is_not_counted_and_its_clone_is() {
        let (_, own) = observed();
        let view = Observer::of(&own).unwrap().view();
        assert!(view.will_wake(&own));
        assert_eq!(count(&own), 1);
        let clone = view.clone();
        assert_eq!(count(&own), 2);
        assert!(clone.will_wake(&own));
    }

    #[test]
    fn the_last_waker_frees_the_observer_and_the_waker_of_the_task() {
        let (woken, own) = observed();
        let outlives = own.clone();
        drop(own);
        assert_eq!(Arc::strong_count(&woken), 2);
        outlives.wake();
        assert_eq!((woken.0.load(Relaxed), Arc::strong_count(&woken)), (1, 1));
    }

    #[test]
    fn other_wakers_have_no_observer() {
        assert!(Observer::of(Waker::noop()).is_none());
        assert!(Observer::of(&Waker::from(Arc::<Woken>::default())).is_none());
    }
}
