//! Running closures on threads that never poll a task.

use std::io;

use crate::context;
use crate::observe::PoolThread;
use crate::sched::closures::drop_with_line;
use crate::sched::scheduler::Scheduler;
use crate::sched::scheduler_ref::SchedulerRef;
use crate::sched::state::all_machines::await_again;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::pool::{NotStarted, Seat, Submitted};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::{Place, Runnable, cancel, drop_now, run_watched};

impl Scheduler {
    /// Gives a closure, which has a permit, to a thread of the pool.
    ///
    /// # Errors
    ///
    /// There is no thread. The closure was dropped, and the caller must release its permit.
    pub(super) fn submit_to_pool(self: &Arc<Self>, closure: Runnable) -> io::Result<()> {
        match self.closures.pool.submit(closure) {
            Submitted::Given => {}
            Submitted::Start(seat) => return self.start_pool_thread(seat),
            Submitted::Closed(closure) => cancel(closure),
        }
        Ok(())
    }

    fn start_pool_thread(self: &Arc<Self>, seat: Arc<Seat>) -> io::Result<()> {
        let (scheduler, of_thread) = (self.clone(), seat.clone());
        let started = self.start_thread(Machine::new(0), move |machine| {
            scheduler.config.hooks.started();
            scheduler.serve_pool(&machine, &of_thread);
            scheduler.config.hooks.stopped();
        });
        let Err(error) = started else { return Ok(()) };
        match self.closures.pool.not_started(&seat) {
            NotStarted::Delayed => Ok(()),
            NotStarted::Alone { closure, .. } if self.is_shutdown() => {
                cancel(closure);
                Ok(())
            }
            NotStarted::Alone { closure, delayed } => {
                for closure in delayed {
                    drop_with_line(closure, &error);
                    self.release_closure_permit();
                }
                drop_now(closure);
                Err(error)
            }
        }
    }

    fn serve_pool(self: &Arc<Self>, machine: &Arc<Machine>, seat: &Arc<Seat>) {
        let _entered = context::enter_blocking_thread(SchedulerRef::new(self.clone()));
        let observed = PoolThread::default();
        machine.running.set_closure(true);
        while let Some(first) = self.closures.pool.next(seat, self.config.threads.keep_alive) {
            let mut closure = Some(first);
            while let Some(current) = closure {
                self.run_in_pool(current, machine, &observed);
                closure = self.pass_permit();
            }
        }
    }

    fn run_in_pool(&self, closure: Runnable, machine: &Arc<Machine>, observed: &PoolThread) {
        closure.metadata().take_permit();
        if closure.metadata().may_be_abandoned() {
            self.all_machines.do_not_await(machine);
        }
        machine.running.set(closure.metadata());
        observed.before_closure(self, closure.metadata());
        machine.ownership.begin(Region::Blocking);
        run_watched(closure);
        // The machine never has a processor, so nothing can have been taken.
        let _ = machine.ownership.enter();
        observed.after_closure();
        // If the closure was aborted, its function has not run.
        await_again();
    }

    /// Releases the permit of the closure that has ended. Returns the closure that gets it, if this
    /// thread may run that one.
    fn pass_permit(self: &Arc<Self>) -> Option<Runnable> {
        let next = self.closures.permits.release_to_next();
        if self.config.is_current_thread() {
            // The thread that drives the runtime may be waiting for this closure before it advances
            // a paused clock.
            fence(SeqCst);
            self.interrupt_sleeper();
        }
        let next = next?;
        if next.metadata().place() == Place::Machine {
            self.submit_permitted(next);
            return None;
        }
        Some(next)
    }
}
