//! The queues of two processors, and the global queue that they share.

use crate::sched::bench::{busy_machine, scheduler, task};
use crate::sched::local::{Held, Local};
use crate::sched::run::find_runnable::take_global;
use crate::sched::run::steal;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::processor::local_queue::CAPACITY;
use crate::sched::submit::push_tail;
use crate::sync::Arc;
use crate::task::Runnable;

/// Enough tasks for a ring and its overflow.
const TASKS: usize = 2 * CAPACITY;

/// Two busy machines, and a stock that holds the tasks that are in no queue.
pub struct Queues {
    scheduler: Arc<Scheduler>,
    own: Local,
    victim: Local,
    stock: Vec<Runnable>,
}

impl Queues {
    /// All queues are empty.
    #[expect(clippy::new_without_default, reason = "it builds a scheduler")]
    pub fn new() -> Queues {
        let scheduler = scheduler(2);
        let stock = (0..TASKS).map(|_| task(&scheduler)).collect();
        Queues { own: busy_machine(&scheduler), victim: busy_machine(&scheduler), scheduler, stock }
    }

    /// Pushes `count` tasks to the own ring. Tasks beyond its capacity go to the global queue.
    pub fn push(&mut self, count: usize) {
        Self::push_to(&self.scheduler, &self.own, &mut self.stock, count);
    }

    /// The same for the ring that will be stolen from.
    pub fn push_to_victim(&mut self, count: usize) {
        Self::push_to(&self.scheduler, &self.victim, &mut self.stock, count);
    }

    fn push_to(scheduler: &Arc<Scheduler>, local: &Local, stock: &mut Vec<Runnable>, count: usize) {
        holding(local, |held| {
            let tasks = stock.drain(stock.len() - count..);
            for task in tasks {
                push_tail(scheduler, held, task);
            }
        });
    }

    /// Puts a task into the own `runnext`, and takes it out.
    pub fn push_and_pop_next(&mut self) {
        let task = self.stock.pop().expect("the stock is full");
        let popped = holding(&self.own, |held| {
            assert!(held.processor.runnext.replace(&held.proof, task).is_none(), "`runnext` was empty");
            held.processor.pop(&held.proof)
        });
        self.stock.extend(popped);
    }

    /// Takes all tasks out of the own ring. Returns how many there were.
    pub fn pop_all(&mut self) -> usize {
        Self::pop_all_of(&self.own, &mut self.stock)
    }

    /// The same for the other ring.
    pub fn pop_all_of_victim(&mut self) -> usize {
        Self::pop_all_of(&self.victim, &mut self.stock)
    }

    fn pop_all_of(local: &Local, stock: &mut Vec<Runnable>) -> usize {
        let before = stock.len();
        holding(local, |held| stock.extend(std::iter::from_fn(|| held.processor.pop(&held.proof))));
        stock.len() - before
    }

    /// Moves a share of the global queue to the own ring. Returns whether there was any task.
    pub fn take_global(&mut self) -> bool {
        let first = holding(&self.own, |held| take_global(&self.own, held, &mut 0));
        let found = first.is_some();
        self.stock.extend(first);
        found
    }

    /// Moves half of the other ring to the own ring, which must be empty. Returns whether there was
    /// any task.
    pub fn steal(&mut self) -> bool {
        let first = holding(&self.own, |held| steal::steal(&self.own, held));
        let found = first.is_some();
        self.stock.extend(first);
        found
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        while self.pop_all() + self.pop_all_of_victim() + usize::from(self.take_global()) > 0 {}
        for task in self.stock.drain(..) {
            task.run();
        }
    }
}

/// Enters the scheduler as a machine does.
fn holding<R>(local: &Local, f: impl FnOnce(&Held<'_>) -> R) -> R {
    let guard = local.enter();
    f(&guard.held().expect("no other thread takes a processor here"))
}
