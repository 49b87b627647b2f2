//! A runtime to be counted, and what scenarios need to agree on beginning and end. Nothing here is
//! recorded: its words are std's, and not those of `crate::sync`.

use std::collections::HashMap;
use std::future::Future;
use std::panic::Location;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::runtime::Builder;
use crate::sched::config::Config;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::sync::lines::recorder::{self, Place};
use crate::sync::lines::waiting;
use crate::task::spawn_on;

/// The transfers of one run.
pub(super) struct Count {
    pub(super) operations: usize,
    pub(super) transfers: HashMap<Place, u64>,
}

impl Count {
    /// The transfers of one operation.
    pub(super) fn each(&self) -> f64 {
        self.transfers.values().sum::<u64>() as f64 / self.operations as f64
    }
}

#[derive(Clone)]
pub(super) struct Stage {
    pub(super) handle: SchedulerRef,
    pub(super) processors: usize,
    result: Arc<std::sync::Mutex<Option<Count>>>,
}

impl Stage {
    /// A multi-thread runtime as programs have it, with sysmon asleep for good.
    pub(super) fn new(processors: usize) -> Stage {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(processors).thread_keep_alive(Duration::MAX).enable_all();
        let config = builder.config(false).expect("the settings are valid");
        // The same on every computer.
        let scheduler = Scheduler::new(Config { cpus: processors, caches: None, ..config });
        scheduler.start_first_machine().expect("a thread");
        Stage { handle: SchedulerRef::new(scheduler), processors, result: Arc::default() }
    }

    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(spawn_on(&self.handle, future, Location::caller()));
    }

    /// Occupies each processor with one task, and waits until the tasks have ended.
    pub(super) fn on_each<F: Future<Output = ()> + Send + 'static>(&self, mut body: impl FnMut(usize, Meeting) -> F) {
        let meeting = Meeting::new(self.processors);
        let ended = Tally::new();
        for index in 0..self.processors {
            let (body, meeting, ended) = (body(index, meeting.clone()), meeting.clone(), ended.clone());
            self.spawn(async move {
                meeting.meet(|| ());
                body.await;
                ended.add();
            });
        }
        ended.wait_for(self.processors);
    }

    /// Ends the count that `recorder::begin` has begun.
    pub(super) fn end_count(&self, operations: usize) {
        let count = Count { operations, transfers: recorder::end() };
        let before = self.result.lock().expect("not poisoned").replace(count);
        assert!(before.is_none(), "one count for each run");
    }

    /// Shuts the runtime down, and returns what was counted.
    pub(super) fn shut_down(self) -> Count {
        self.handle.shutdown();
        while self.handle.all_machines.is_any_awaited() {
            crate::sync::thread::sleep(Duration::ZERO);
        }
        self.handle.wait(None);
        self.result.lock().expect("not poisoned").take().expect("the scenario has counted")
    }
}

/// Threads wait here for each other; those of machines inside their polls.
#[derive(Clone)]
pub(super) struct Meeting {
    members: usize,
    arrived: Tally,
}

impl Meeting {
    pub(super) fn new(members: usize) -> Meeting {
        Meeting { members, arrived: Tally::new() }
    }

    /// Waits until all members are here. The last one calls `f` before the others go on.
    pub(super) fn meet(&self, f: impl FnOnce()) {
        let arrived = self.arrived.get() + 1;
        if arrived % self.members == 0 {
            f();
        }
        self.arrived.add();
        self.arrived.wait_for(arrived.next_multiple_of(self.members));
    }
}

/// A number that grows, and that threads wait for. Only one thread of shuttle runs at a time, and
/// none of these methods takes a step in between.
#[derive(Clone)]
pub(super) struct Tally(Arc<AtomicUsize>);

impl Tally {
    pub(super) fn new() -> Tally {
        Tally(Arc::default())
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Relaxed);
        waiting::release_all(self.address());
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }

    pub(super) fn wait_for(&self, number: usize) {
        while self.get() < number {
            waiting::wait_on(self.address());
        }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}
