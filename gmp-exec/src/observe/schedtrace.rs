//! `GMP_DEBUG=schedtrace=1000[,scheddetail=1]` prints a line on stderr every 1000 ms, like Go's, a
//! line when the number of processors has changed, and one when the CPU quota was used up.
//!
//! sysmon prints the line, so it also appears while every machine is stuck. The fields have Go's
//! order and names, so knowledge of Go's trace applies. Unlike in Go, the length of a processor's
//! queue includes `runnext`.

use std::fmt::Write;
use std::time::{Duration, Instant};
use std::{io, mem};

use crate::sched::Scheduler;
use crate::sched::config::Sigquit;
use crate::sys::cgroup::{self, Throttling};
use crate::sys::environment;

const VARIABLE: &str = "GMP_DEBUG";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    period: Duration,
    detail: bool,
}

/// What `GMP_DEBUG` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Debug {
    pub(crate) trace: Option<Settings>,
    /// What SIGQUIT prints (`dump`).
    pub(crate) sigquit: Sigquit,
    /// `cargo gmp tasks` is answered (`dump`).
    pub(crate) asks: bool,
}

impl Default for Debug {
    fn default() -> Debug {
        Debug { trace: None, sigquit: Sigquit::Nothing, asks: true }
    }
}

impl Debug {
    pub(crate) fn from_env() -> io::Result<Debug> {
        Ok(environment::parsed(VARIABLE, parse)?.unwrap_or_default())
    }
}

fn parse(text: &str) -> Result<Debug, String> {
    let mut period = None;
    let (mut detail, mut sigquit, mut asks) = (false, Sigquit::Nothing, true);
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let (name, value) = item.split_once('=').unwrap_or((item, ""));
        match (name, value.parse::<u64>()) {
            ("schedtrace", Ok(ms)) if (1..=3_600_000).contains(&ms) => period = Some(Duration::from_millis(ms)),
            ("schedtrace", _) => {
                return Err(format!(
                    "{VARIABLE}: schedtrace={value} is not a period; allowed are whole milliseconds from 1 to 3600000"
                ));
            }
            ("scheddetail", Ok(on @ (0 | 1))) => detail = on == 1,
            ("sigquit", _) => sigquit = printed_at_sigquit(value)?,
            ("asks", Ok(on @ (0 | 1))) => asks = on == 1,
            ("scheddetail" | "asks", _) => {
                return Err(format!("{VARIABLE}: {name}={value} is not a switch; allowed are 0 and 1"));
            }
            _ => {
                return Err(format!(
                    "{VARIABLE}: unknown setting `{name}`; allowed are schedtrace=MILLISECONDS, scheddetail=0|1, \
                     sigquit=0|1|lines and asks=0|1"
                ));
            }
        }
    }
    Ok(Debug { trace: period.map(|period| Settings { period, detail }), sigquit, asks })
}

fn printed_at_sigquit(value: &str) -> Result<Sigquit, String> {
    match value {
        "0" => Ok(Sigquit::Nothing),
        "1" => Ok(Sigquit::Tasks),
        "lines" => Ok(Sigquit::Lines),
        _ => Err(format!("{VARIABLE}: sigquit={value} is unknown; allowed are 0, 1 and lines")),
    }
}

/// The state of the trace. sysmon owns it.
#[derive(Debug)]
pub(crate) struct Schedtrace {
    settings: Option<Settings>,
    start: Instant,
    /// When the next line is to be printed, counted from `start`.
    due: Duration,
    /// The number of processors that was printed last.
    max_procs: Option<usize>,
    throttled: Throttled,
}

/// What was last printed of throttling, and when it is to be looked at again, counted from the
/// start.
#[derive(Debug, Default)]
struct Throttled {
    seen: Throttling,
    due: Duration,
}

/// Looking takes about 0.1 ms.
const THROTTLING_INTERVAL: Duration = Duration::from_secs(1);

impl Schedtrace {
    pub(crate) fn new(settings: Option<Settings>) -> Schedtrace {
        let due = settings.map_or(Duration::MAX, |settings| settings.period);
        let seen = settings.map_or(Throttling::default(), |_| cgroup::throttling());
        let throttled = Throttled { seen, due: Duration::ZERO };
        Schedtrace { settings, start: Instant::now(), due, max_procs: None, throttled }
    }

    /// Shortens sysmon's sleep so that the next line is not late.
    pub(crate) fn limit(&self, sleep: Option<Duration>) -> Option<Duration> {
        if self.settings.is_none() {
            return sleep;
        }
        let left = self.due.saturating_sub(self.start.elapsed());
        Some(sleep.map_or(left, |sleep| sleep.min(left)))
    }

    pub(crate) fn print_if_due(&mut self, scheduler: &Scheduler) {
        let Some(settings) = self.settings else { return };
        let elapsed = self.start.elapsed();
        self.print_change(scheduler.idle.active(), elapsed);
        if elapsed < self.due {
            return;
        }
        self.due = next_due(elapsed, settings.period);
        let mut text = line(scheduler, elapsed);
        if settings.detail {
            detail(scheduler, &mut text);
        }
        write(&text);
        if elapsed >= self.throttled.due {
            self.throttled.due = elapsed + THROTTLING_INTERVAL;
            self.print_throttling(cgroup::throttling(), elapsed);
        }
    }

    /// Prints a line if the CPU quota was used up since the last look.
    fn print_throttling(&mut self, now: Throttling, elapsed: Duration) {
        if let Some(line) = throttled_since(mem::replace(&mut self.throttled.seen, now), now) {
            write(&format!("SCHED {}ms: {line}\n", elapsed.as_millis()));
        }
    }

    /// Prints a line when sysmon sees that the number of processors has changed.
    fn print_change(&mut self, max_procs: usize, elapsed: Duration) {
        if let Some(before) = self.max_procs.replace(max_procs).filter(|&before| before != max_procs) {
            write(&format!("SCHED {}ms: gomaxprocs={max_procs} before={before}\n", elapsed.as_millis()));
        }
    }
}

fn throttled_since(before: Throttling, now: Throttling) -> Option<String> {
    let periods = now.periods.checked_sub(before.periods).filter(|&periods| periods > 0)?;
    Some(format!("throttledperiods={periods} throttled={:?}", now.time.saturating_sub(before.time)))
}

/// One write per report, so that reports of several runtimes do not mix. An error is ignored:
/// stderr may be closed.
fn write(text: &str) {
    let _ = io::Write::write_all(&mut io::stderr().lock(), text.as_bytes());
}

/// The first multiple of the period after `elapsed`. Computed from the remainder: a `Duration` can
/// be multiplied only by a `u32`, and the number of periods may be larger.
fn next_due(elapsed: Duration, period: Duration) -> Duration {
    let since_last = elapsed.as_nanos() % period.as_nanos();
    elapsed + period - Duration::from_nanos(since_last as u64)
}

fn line(scheduler: &Scheduler, elapsed: Duration) -> String {
    let idle = scheduler.idle.snapshot();
    let mut text = format!(
        "SCHED {}ms: gomaxprocs={} idleprocs={} threads={} spinningthreads={} needspinning=0 idlethreads={} \
         runqueue={} [",
        elapsed.as_millis(),
        scheduler.idle.active(),
        idle.processors,
        idle.machines,
        idle.spinning,
        idle.spares,
        scheduler.global.len(),
    );
    for processor in scheduler.processors.iter() {
        let _ = write!(text, " {}", processor.depth());
    }
    text.push_str(" ] schedticks=[");
    for processor in scheduler.processors.iter() {
        let _ = write!(text, " {}", processor.ticks());
    }
    text.push_str(" ]\n");
    text
}

fn detail(scheduler: &Scheduler, text: &mut String) {
    for (index, processor) in scheduler.processors.iter().enumerate() {
        let counters = &processor.counters;
        let _ = writeln!(
            text,
            "  P{index}: schedtick={} runqsize={} timerslen={} polls={} steals={}/{} parks={} taken={}+{}",
            processor.ticks(),
            processor.depth(),
            processor.timers.len(),
            counters.polls.get(),
            counters.steals.get(),
            counters.steal_attempts.get(),
            counters.parks.get(),
            counters.taken_blocked.get(),
            counters.taken_computing.get(),
        );
    }
    scheduler.all_machines.for_each(|machine| {
        let _ = match machine.ownership.look() {
            Some(seen) => {
                writeln!(text, "  M{}: p={} region={:?} polls={}", machine.id, seen.processor, seen.region, seen.turn())
            }
            None => writeln!(text, "  M{}: p=- polls={}", machine.id, machine.ownership.turn()),
        };
    });
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Debug, Settings, Sigquit, Throttling, next_due, parse, throttled_since};

    #[test]
    fn throttling_is_told_once() {
        let throttled = |periods, ms| Throttling { periods, time: Duration::from_millis(ms) };
        let line = throttled_since(throttled(2, 10), throttled(5, 150));
        assert_eq!(line.as_deref(), Some("throttledperiods=3 throttled=140ms"));
        assert_eq!(throttled_since(throttled(5, 150), throttled(5, 150)), None);
        // The process is in another cgroup since.
        assert_eq!(throttled_since(throttled(5, 150), throttled(0, 0)), None);
    }

    #[test]
    fn settings_are_read_in_any_order() {
        let expected = Settings { period: Duration::from_millis(250), detail: true };
        let trace = |text| parse(text).unwrap().trace;
        assert_eq!(trace("scheddetail=1,schedtrace=250"), Some(expected));
        assert_eq!(trace("scheddetail=1"), None);
        assert_eq!(parse("").unwrap(), Debug::default());
        let both = Debug { trace: Some(expected), sigquit: Sigquit::Tasks, asks: true };
        assert_eq!(parse("sigquit=1,schedtrace=250,scheddetail=1").unwrap(), both);
        assert_eq!(parse("sigquit=0").unwrap(), Debug::default());
        assert_eq!(parse("sigquit=lines").unwrap(), Debug { sigquit: Sigquit::Lines, ..Debug::default() });
        assert_eq!(parse("asks=0").unwrap(), Debug { asks: false, ..Debug::default() });
    }

    #[test]
    fn bad_settings_are_named_with_what_is_allowed() {
        for (text, expected) in [
            ("schedtrace=0", "schedtrace=0"),
            ("schedtrace=x", "from 1 to 3600000"),
            ("scheddetail=2", "allowed are 0 and 1"),
            ("sigquit=yes", "sigquit=yes is unknown; allowed are 0, 1 and lines"),
            ("gctrace=1", "unknown setting `gctrace`"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.starts_with("GMP_DEBUG"), "{error}");
        }
    }

    #[test]
    fn the_next_line_is_due_one_period_later_at_most_however_long_the_trace_runs() {
        let period = Duration::from_millis(1);
        for periods in [0, 1, u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 32, 1 << 40] {
            let (last, next) = (Duration::from_millis(periods), Duration::from_millis(periods + 1));
            assert_eq!(next_due(last, period), next, "exactly {periods} periods");
            assert_eq!(next_due(next - Duration::from_nanos(1), period), next, "nearly {periods} + 1 periods");
        }
    }
}
