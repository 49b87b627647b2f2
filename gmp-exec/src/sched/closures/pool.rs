//! Threads that run the closures of the current-thread flavour.

use std::collections::VecDeque;

use crate::context;
use crate::sched::scheduler::Scheduler;
use crate::sched::scheduler_ref::SchedulerRef;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::task::{Runnable, cancel, run_watched};
use crate::trace::{Owner, Tap};

impl Scheduler {
    /// Queues a closure for the threads without a processor, and starts a thread if none is idle.
    pub(crate) fn submit_to_pool(self: &Arc<Self>, task: Runnable) {
        let pool = &self.closures.pool;
        let mut queue = pool.lock();
        if queue.closed {
            drop(queue);
            return cancel(task);
        }
        queue.tasks.push_back(task);
        if queue.idle > queue.called {
            queue.called += 1;
            drop(queue);
            return pool.wake.notify_one();
        }
        if queue.threads >= self.closures.most {
            return;
        }
        queue.threads += 1;
        drop(queue);
        if self.start_pool_thread().is_err() {
            self.without_pool_thread();
        }
    }

    fn start_pool_thread(self: &Arc<Self>) -> std::io::Result<()> {
        let scheduler = self.clone();
        self.start_thread(Machine::new(0), move |machine| {
            scheduler.config.hooks.started();
            scheduler.clone().serve_pool(&machine);
            scheduler.config.hooks.stopped();
        })
    }

    /// No thread could be started. If other threads exist, one of them will run the closure. If
    /// none does, no thread would ever run it, so it is cancelled.
    fn without_pool_thread(&self) {
        let mut queue = self.closures.pool.lock();
        queue.threads -= 1;
        let orphans = if queue.threads == 0 { std::mem::take(&mut queue.tasks) } else { VecDeque::new() };
        drop(queue);
        orphans.into_iter().for_each(cancel);
    }

    fn serve_pool(self: Arc<Self>, machine: &Arc<Machine>) {
        let _entered = context::enter_blocking_thread(SchedulerRef::new(self.clone()));
        let pool = &self.closures.pool;
        let tap = Tap::default();
        let mut queue = pool.lock();
        while !queue.closed {
            if let Some(task) = queue.tasks.pop_front() {
                queue.running += 1;
                drop(queue);
                self.run_in_pool(task, machine, &tap);
                queue = pool.lock();
                continue;
            }
            queue.idle += 1;
            let keep_alive = self.config.threads.keep_alive;
            let (woken, timed_out) = pool.wake.wait_timeout(queue, keep_alive);
            queue = woken;
            queue.idle -= 1;
            if queue.called > 0 {
                queue.called -= 1;
            } else if timed_out && queue.tasks.is_empty() {
                break;
            }
        }
        queue.threads -= 1;
    }

    fn run_in_pool(&self, task: Runnable, machine: &Arc<Machine>, tap: &Tap) {
        let not_awaited = task.metadata().may_be_abandoned().then(|| self.all_machines.do_not_await(machine));
        machine.running.set_closure(true);
        machine.running.set(task.metadata());
        tap.notice(&self.recorded, Owner::Closures);
        tap.begin_poll(task.metadata(), None);
        machine.ownership.begin(Region::Blocking);
        run_watched(task);
        // The machine never has a processor, so nothing can have been taken.
        let _ = machine.ownership.enter();
        tap.end_poll();
        drop(not_awaited);
        self.closures.pool.lock().running -= 1;
        // The thread that drives the runtime may be waiting for this closure before it advances a
        // paused clock.
        fence(SeqCst);
        self.interrupt_sleeper();
    }
}
