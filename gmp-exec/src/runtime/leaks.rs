//! The end of a runtime that has lost tasks, and what is said of a deadlock.

use std::time::Duration;

use crate::dump::{LostTasks, Tasks, new_circles};
use crate::lost::{Leaks, Lost, find_all};
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;

/// What is to be said after the runtime has ended.
#[must_use]
pub(super) struct Verdict {
    leaks: Leaks,
    /// Empty: there is nothing to say.
    text: String,
}

impl Verdict {
    /// Looks for lost tasks. Called before the shutdown, which ends them.
    pub(super) fn of(scheduler: &Scheduler) -> Verdict {
        let leaks = scheduler.config.leaks;
        let text = if leaks == Leaks::Off { String::new() } else { text(scheduler) };
        Verdict { leaks, text }
    }

    /// `eprint!` writes into the output of a test, which `cargo test` shows if the test fails.
    ///
    /// # Panics
    ///
    /// Panics if the runtime denies leaks and there are some.
    pub(super) fn tell(self) {
        match self.leaks {
            _ if self.text.is_empty() => {}
            Leaks::Deny if !std::thread::panicking() => panic!("{}", self.text),
            _ => eprint!("{}", self.text),
        }
    }
}

fn text(scheduler: &Scheduler) -> String {
    prefixed(&LostTasks::from(find_all(scheduler)).to_string())
}

/// What the panic says when all tasks and the future of `block_on` wait for a wake-up that can't
/// come.
pub(super) fn describe_deadlock(_: &Scheduler, lost: Vec<Lost>) -> String {
    let lost = LostTasks::from(lost);
    prefixed(&format!("deadlock: no waker is left of the future in `block_on`, nor of any task\n{lost}"))
}

/// What the panic says when nothing has happened for so long.
pub(super) fn describe_silence(scheduler: &Arc<Scheduler>, slept: Duration) -> String {
    let groups = Tasks::of(SchedulerRef::new(scheduler.clone())).groups();
    let lost = LostTasks::of(scheduler);
    let slept = slept.as_secs_f64();
    let head = format!("deadlock: nothing has happened for {slept:.1} s, and nothing of the runtime is waited for");
    prefixed(&format!("{head}\n{groups}{lost}"))
}

/// Prints which tasks have waited for each other's mutexes for so long.
pub(super) fn tell_circles(scheduler: &Arc<Scheduler>, limit: Duration) {
    eprint!("{}", prefixed(&new_circles(scheduler, limit)));
}

fn prefixed(text: &str) -> String {
    text.lines().map(|line| format!("gmp: {line}\n")).collect()
}
