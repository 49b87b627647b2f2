//! The order in which threads make their steps: at random, from a seed, among those that do not
//! wait. So all threads are equally fast, counted in accesses to shared memory.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, MaxSteps, Runner};

use crate::waiting;

/// Runs `body` once, as the first thread of shuttle.
pub(super) fn run(seed: u64, body: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::default();
    config.stack_size = 1 << 17;
    config.max_steps = MaxSteps::None;
    crate::start(seed);
    // Neighbouring seeds give different orders. xorshift needs a state that is not zero.
    let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Runner::new(Turns { seed: Some(seed), random }, config).run(body);
}

struct Turns {
    /// `None` after the run.
    seed: Option<u64>,
    random: u64,
}

impl Scheduler for Turns {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.seed.take().map(Schedule::new)
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let candidates = || runnable.iter().map(|task| usize::from(task.id()));
        let next = waiting::ask(|waits| {
            let count = candidates().filter(|&thread| !waits(thread)).count();
            assert!(count > 0, "every thread waits for another one");
            let index = self.next_u64() as usize % count;
            candidates().filter(|&thread| !waits(thread)).nth(index).expect("the index is below the count")
        });
        crate::switch_to(next);
        Some(next.into())
    }

    /// xorshift64*.
    fn next_u64(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}
