//! The runtime that is counted.

use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use gmp_lines::Subject;

use crate::runtime::Builder;
use crate::sched::shutdown;
use crate::sched::submit::threads::start_first_machine;
use crate::sched::{Scheduler, SchedulerRef};
use crate::task::{AtShutdown, Place, spawn, spawn_blocking_on, spawn_on, yield_now};
use crate::time::timeout;

/// A multi-thread runtime as programs have it, with sysmon asleep for good.
#[derive(Clone)]
pub(super) struct Gmp(SchedulerRef);

impl Subject for Gmp {
    fn new(processors: usize) -> Gmp {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(processors).thread_keep_alive(Duration::MAX).enable_all();
        let config = builder.config(false).expect("the settings are valid");
        // The same on every computer.
        let scheduler = Scheduler::new(config);
        start_first_machine(&scheduler).expect("a thread");
        Gmp(SchedulerRef::new(scheduler))
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(spawn_on(&self.0, future, Location::caller()));
    }

    fn spawn_closure(&self, closure: impl FnOnce() + Send + 'static) {
        drop(spawn_blocking_on(&self.0, AtShutdown::Wait, Some(Place::Machine), closure, Location::caller(), None));
    }

    fn spawn_here(future: impl Future<Output = ()> + Send + 'static) {
        drop(spawn(future));
    }

    async fn spawn_await() {
        spawn(async {}).await.expect("it does not panic");
    }

    async fn spawn_await_in_time() {
        let child = timeout(Duration::from_secs(3600), spawn(async {})).await;
        child.expect("an hour does not pass").expect("it does not panic");
    }

    async fn yield_now() {
        yield_now().await;
    }

    fn shut_down(&self) {
        shutdown::begin(&self.0);
        while !self.0.all_machines.awaited().is_empty() {
            // Lets the other threads of shuttle go on. It takes no time.
            crate::sync::thread::sleep(Duration::ZERO);
        }
        shutdown::wait(&self.0, None);
    }
}
