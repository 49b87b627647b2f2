//! The list of waiting tasks against the end of a task, and against its first wait. The pointer to
//! a header must not be followed after the header was freed, so no entry may be left when its task
//! has finished. Each waker is dropped once.
//!
//! Seen to fail when `LISTED` or `FINISHED` is set by a load and a store, when a listing ignores
//! `FINISHED`, when a first wait does not check whether the task was aborted or the shard closed,
//! when abort sets the flag after it has released the lock, and when a walk looks at headers after
//! it has released the lock.

use std::panic::Location;
use std::task::{Wake, Waker};

use loom::cell::UnsafeCell;
use loom::thread;

use super::{Position, Registry, Wait};
use crate::sched::Scheduler;
use crate::sched::config::Flavor;
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::config;
use crate::sync::Arc;
use crate::task::cell::header::{Header, Kind};

/// A task without a future.
struct Task {
    header: Header,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(Gate);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.open();
    }
}

impl Task {
    fn new() -> Arc<Task> {
        let scheduler = Scheduler::new(config(1, Flavor::MultiThread));
        let home = crate::sched::SchedulerRef::new(scheduler).home().clone();
        Arc::new(Task {
            header: Header::new(home, Kind::Task(Default::default()), Location::caller()),
            woken: Arc::default(),
        })
    }

    fn registry(&self) -> &Registry {
        self.header.home.registry()
    }

    /// Polls twice: in the first poll the task begins to wait; before the second one it has been
    /// woken. In both polls the future is dropped if the task was aborted.
    fn wait_until_aborted(&self) {
        let has_waited = match self.registry().wait(&self.header, &Waker::from(self.woken.clone())) {
            Wait::Listed => {
                self.woken.0.wait();
                assert!(self.header.is_aborted(), "only the abort wakes it");
                true
            }
            Wait::Aborted => false,
        };
        self.finish(has_waited);
    }

    /// The future has been dropped.
    fn finish(&self, has_waited: bool) {
        if has_waited || self.header.listing.finish() {
            self.registry().remove(&self.header);
        }
    }

    /// Called after all threads have been joined.
    fn check(&self) {
        assert_eq!(self.registry().len(), 0, "an entry points at a header that is gone");
        assert_eq!(Arc::strong_count(&self.woken), 1, "a waker is left");
    }
}

fn against(task: &Arc<Task>, f: impl FnOnce(&Task) + 'static) -> thread::JoinHandle<()> {
    let task = task.clone();
    thread::spawn(move || f(&task))
}

/// An abort handle aborts while the task begins to wait: the task is woken, or does not wait.
#[test]
fn loom_registry_abort_against_first_wait() {
    explore(5, || {
        let task = Task::new();
        let key = task.registry().list(&task.header).unwrap();
        let aborting = against(&task, move |task| task.registry().abort_listed(task.header.id, key));
        task.wait_until_aborted();
        aborting.join().unwrap();
        task.check();
    });
}

/// A join handle aborts a task that is listed only when it begins to wait.
#[test]
fn loom_registry_abort_by_flag_against_first_wait() {
    explore(5, || {
        let task = Task::new();
        let aborting = against(&task, |task| task.registry().abort(&task.header));
        task.wait_until_aborted();
        aborting.join().unwrap();
        task.check();
    });
}

/// The task finishes while an abort handle aborts it, and while another one is made.
#[test]
fn loom_registry_abort_against_completion() {
    explore(5, || {
        let task = Task::new();
        let key = task.registry().list(&task.header).unwrap();
        let aborting = against(&task, move |task| task.registry().abort_listed(task.header.id, key));
        let listing = against(&task, |task| {
            task.registry().list(&task.header);
        });
        task.finish(false);
        assert!(!task.registry().is_alive(task.header.id, key));
        aborting.join().unwrap();
        listing.join().unwrap();
        task.check();
    });
}

/// A task that was never listed finishes while its first abort handle is made: either there is no
/// entry, or the end of the task removes it.
#[test]
fn loom_registry_listing_against_completion() {
    explore(5, || {
        let task = Task::new();
        let listing = against(&task, |task| {
            if let Some(key) = task.registry().list(&task.header) {
                task.registry().abort_listed(task.header.id, key);
            }
        });
        task.finish(false);
        listing.join().unwrap();
        task.check();
    });
}

/// The runtime shuts down while the task begins to wait: the task is woken, or does not wait.
#[test]
fn loom_registry_close_against_first_wait() {
    explore(5, || {
        let task = Task::new();
        let closing = against(&task, |task| task.registry().close());
        task.wait_until_aborted();
        closing.join().unwrap();
        task.check();
    });
}

/// The memory of a header. loom reports an access that is concurrent with its end.
struct Memory(UnsafeCell<()>);

// SAFETY: loom fails the model if two threads use the cell at a time.
unsafe impl Sync for Memory {}

/// A walk looks at a task that begins to wait, and ends: it does not look at a header that was
/// freed.
#[test]
fn loom_registry_look_against_completion() {
    explore(5, || {
        let task = Task::new();
        let memory = std::sync::Arc::new(Memory(UnsafeCell::new(())));
        let of_walk = memory.clone();
        let looking = against(&task, move |task| {
            let mut at = Some(Position::default());
            while let Some(position) = at {
                at = task.registry().look(position, 4, |_, _| of_walk.0.with(|_| ()));
            }
        });
        let Wait::Listed = task.registry().wait(&task.header, &Waker::from(task.woken.clone())) else {
            unreachable!("nothing aborts it");
        };
        task.finish(true);
        memory.0.with_mut(|_| ());
        looking.join().unwrap();
        task.check();
    });
}
