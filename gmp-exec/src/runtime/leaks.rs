//! The end of a runtime that has lost tasks.

use crate::dump::LostTasks;
use crate::sched::Scheduler;
use crate::sched::lost::Leaks;

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
    LostTasks::of(scheduler).to_string().lines().map(|line| format!("gmp: {line}\n")).collect()
}
