//! The waker of an observed task that awaits a `JoinHandle`: it says which task is awaited. The
//! same for an observed future that runs a `LocalSet` beside itself: the set wakes it to have its
//! tasks polled.
//!
//! The waker goes into the slot of the awaited task. As long as it exists, the observer of the
//! waiting task lists the awaited one in `joins`, and counts one waker for it. So a task that only
//! waits for others has as many wakers as joins, and `lost` finds out whether these others
//! can ever run.
//!
//! The waker is counted before it is listed, and is taken from the list before it is uncounted. So
//! under the lock of the list there are at least as many wakers as joins. In the other order a
//! waker of another kind would be mistaken for the waker that is being dropped.

use std::task::{Wake, Waker};

use crate::sync::Arc;
use crate::task::Id;
use crate::task::observer::{Awaited, Observer};

struct Joining {
    waker: Waker,
    awaited: Awaited,
}

/// The waker with which an observed task awaits a handle, made from the task's observing waker.
/// `None`: it is another kind of waker.
pub(in crate::task) fn joining(waker: &Waker, awaited: Id) -> Option<Waker> {
    waiting_for(waker, Awaited::Task(awaited))
}

/// The same for the waker with which it polls a set of this address, until another future is ready.
pub(in crate::task) fn joining_set(waker: &Waker, set: usize) -> Option<Waker> {
    waiting_for(waker, Awaited::Set(set))
}

fn waiting_for(waker: &Waker, awaited: Awaited) -> Option<Waker> {
    let observer = Observer::of(waker)?;
    let counted = waker.clone();
    observer.begin_join(awaited);
    Some(Waker::from(Arc::new(Joining { waker: counted, awaited })))
}

impl Wake for Joining {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.waker.wake_by_ref();
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        if let Some(observer) = Observer::of(&self.waker) {
            observer.end_join(self.awaited);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn joins(waker: &Waker) -> Option<Vec<Id>> {
        Observer::of(waker).unwrap().only_tasks()
    }

    #[test]
    fn a_task_that_only_joins_has_no_other_waker() {
        let own = Observer::observe(Waker::noop().clone());
        let [one, two] = [1, 2].map(|id| Id::from_u64(id).unwrap());
        assert_eq!(joins(&own), Some(vec![]));
        let (first, second) = (joining(&own, one).unwrap(), joining(&own, two).unwrap());
        assert_eq!(joins(&own), Some(vec![one, two]));
        // async-task keeps a clone.
        let in_slot = first.clone();
        drop(first);
        assert_eq!(joins(&own), Some(vec![one, two]));
        let other = own.clone();
        assert_eq!(joins(&own), None);
        in_slot.wake();
        assert_eq!(joins(&own), None);
        drop(other);
        assert_eq!(joins(&own), Some(vec![two]));
        drop(second);
        assert_eq!(joins(&own), Some(vec![]));
    }

    #[test]
    fn the_same_task_may_be_awaited_twice() {
        let own = Observer::observe(Waker::noop().clone());
        let id = Id::from_u64(1).unwrap();
        let (old, new) = (joining(&own, id).unwrap(), joining(&own, id).unwrap());
        drop(old);
        assert_eq!(joins(&own), Some(vec![id]));
        drop(new);
        assert_eq!(joins(&own), Some(vec![]));
    }

    #[test]
    fn a_set_is_awaited_by_what_may_run_tasks_only() {
        let own = Observer::observe(Waker::noop().clone());
        let id = Id::from_u64(1).unwrap();
        let (task, set) = (joining(&own, id).unwrap(), joining_set(&own, 7).unwrap());
        assert_eq!(joins(&own), None);
        assert_eq!(Observer::of(&own).unwrap().only_joins(), Some(vec![Awaited::Task(id), Awaited::Set(7)]));
        drop(set);
        assert_eq!(joins(&own), Some(vec![id]));
        drop(task);
    }

    #[test]
    fn another_waker_is_left_to_the_caller() {
        assert!(joining(Waker::noop(), Id::from_u64(1).unwrap()).is_none());
    }
}
