//! Runtimes in which nothing has happened for long while `block_on` waits:
//! `Builder::deadlock_after`.
//!
//! Where a waker is left, the runtime can't know whether it will ever be used. But if no task is
//! polled or queued, and no timer, closure, descriptor or signal of the runtime is waited for, only
//! a thread outside of the runtime could go on. If that takes too long, the runtime calls it a
//! deadlock, as when two tasks each wait for a lock that the other one holds. This is a guess: it
//! is wrong if such a thread computes for longer.
//!
//! Tasks that wait for each other's mutexes (`locks`) are a deadlock whatever else happens, so for
//! them the thread only looks at how long they have waited.
//!
//! The thread inside of `block_on` looks before and after it sleeps, and makes a sleep with a limit
//! out of one without. Polls are counted when they begin. So if no poll is under way at both looks,
//! and the counts are the same, there was none in between.

use std::io;
use std::time::{Duration, Instant};

use crate::lost::locks;
use crate::sched::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sys::environment;

const VARIABLE: &str = "GMP_DEADLOCK_AFTER";

/// What to do about silence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    /// A shorter silence is no deadlock.
    pub(crate) limit: Duration,
    /// Describes the runtime, for a panic.
    pub(crate) describe: fn(&Arc<Scheduler>, Duration) -> String,
    /// Prints which tasks have waited for each other's mutexes for longer than the limit.
    pub(crate) tell_circles: fn(&Arc<Scheduler>, Duration),
}

/// The state of the runtime when a sleep began.
pub(crate) struct Before {
    silence: Silence,
    at: Instant,
    was_at_rest: bool,
    activity: u64,
}

impl Before {
    /// `None`: nothing is done about silence.
    pub(crate) fn sleep(scheduler: &Arc<Scheduler>) -> Option<Before> {
        let silence = scheduler.config.silence?;
        if locks::any_waits_for(silence.limit) {
            (silence.tell_circles)(scheduler, silence.limit);
        }
        let activity = activity(scheduler);
        Some(Before { silence, at: Instant::now(), was_at_rest: is_at_rest(scheduler), activity })
    }

    pub(crate) fn limit(&self) -> Duration {
        self.silence.limit
    }

    /// The sleep is over.
    ///
    /// # Panics
    ///
    /// Panics if the runtime was silent meanwhile. `is_woken`: whether the future of `block_on` can
    /// go on.
    pub(crate) fn fail_if_silent(self, scheduler: &Arc<Scheduler>, is_woken: impl FnOnce() -> bool) {
        let slept = self.at.elapsed();
        if slept < self.limit() || !self.was_at_rest {
            return;
        }
        let is_silent = is_at_rest(scheduler) && activity(scheduler) == self.activity;
        if is_silent && !is_woken() {
            panic!("{}", (self.silence.describe)(scheduler, slept));
        }
    }
}

/// Whether no task can go on without a thread outside of the runtime.
fn is_at_rest(scheduler: &Scheduler) -> bool {
    let mut is_any_polled = false;
    scheduler.all_machines.for_each(|machine| is_any_polled |= is_in_poll(machine));
    let is_awaited = scheduler.closures.permits.held() > 0
        || scheduler.next_timer() != u64::MAX
        || scheduler.netpoll_gate.netpoll().is_some_and(|netpoll| netpoll.has_sources());
    !is_any_polled && !is_awaited && !scheduler.has_visible_work() && !scheduler.is_shutdown()
}

/// Also while its processor was taken, and in sections that block.
fn is_in_poll(machine: &Machine) -> bool {
    machine.running_in(machine.ownership.turn()).is_some()
}

/// Grows with each poll and each spawn.
fn activity(scheduler: &Scheduler) -> u64 {
    let counters = scheduler.processors.iter().map(|processor| &processor.counters);
    let polls: u64 = counters.map(|counters| counters.polls.get() + counters.polls_without.get()).sum();
    polls + scheduler.spawned_tasks()
}

/// The limit in the environment. `None`: it says nothing; 0: there is no limit.
pub(crate) fn limit_from_env() -> io::Result<Option<Duration>> {
    environment::parsed(VARIABLE, parse)
}

fn parse(text: &str) -> Result<Duration, String> {
    let seconds = if text.trim() == "off" { Ok(0.0) } else { text.trim().parse::<f64>() };
    let in_range = seconds.ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    let limit = in_range.map(Duration::from_secs_f64);
    limit.ok_or_else(|| format!("{VARIABLE}: `{text}` is no limit; allowed are off, and seconds up to 86400"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn a_limit_is_in_seconds() {
        assert_eq!(parse("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse(" 0.25 "), Ok(Duration::from_millis(250)));
        assert_eq!((parse("off"), parse("0")), (Ok(Duration::ZERO), Ok(Duration::ZERO)));
    }

    #[test]
    fn another_value_is_an_error_that_names_what_is_allowed() {
        for text in ["", "5s", "-1", "NaN", "inf", "1e9"] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(&format!("`{text}`")) && error.contains("seconds up to 86400"), "{error}");
        }
    }
}
