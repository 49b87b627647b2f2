//! Other activity that keeps the machine busy before a part is measured.
//!
//! The load average covers the minute before. But a part that follows another part of the same run
//! finds the load of that part in the average, and waiting until it has faded would double the time
//! of a report. So before such a part the cores are observed for a second in which nothing is
//! measured.

use std::time::Duration;
use std::{fs, thread};

/// The load of other programs above which figures are not trustworthy.
pub(crate) const MOST: f64 = 0.5;

const LOOK: Duration = Duration::from_secs(1);

/// The load average of the last minute, as the system reports it.
pub(crate) fn average() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().next().map(str::to_owned)
}

/// The load of other programs, before the first part of a run or before a later one.
pub(crate) fn of_others(average: Option<&str>, is_first: bool) -> Option<f64> {
    if is_first { average?.parse().ok() } else { busy_cores() }
}

fn busy_cores() -> Option<f64> {
    let before = Ticks::now()?;
    thread::sleep(LOOK);
    Ticks::now()?.busy_cores_since(&before, thread::available_parallelism().ok()?.get())
}

/// The activity of all cores since the machine was started, in a unit that cancels out.
struct Ticks {
    all: u64,
    idle: u64,
}

impl Ticks {
    fn now() -> Option<Self> {
        Ticks::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the first line:
    /// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; the first two already
    /// contain the last two.
    fn parse(stat: &str) -> Option<Self> {
        let words = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
        let ticks: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        Some(Ticks { all: ticks.iter().sum(), idle: ticks.get(3)? + ticks.get(4)? })
    }

    fn busy_cores_since(&self, before: &Ticks, cores: usize) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&all| all > 0)?;
        let idle = self.idle.saturating_sub(before.idle).min(all);
        Some((all - idle) as f64 / all as f64 * cores as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_of_two_cores_is_a_core() {
        let [before, after] = ["cpu  10 0 10 100 0 0 0 0 7 0\ncpu0 1", "cpu  60 0 60 150 50 0 0 0 9 0\ncpu0 1"]
            .map(|stat| Ticks::parse(stat).unwrap());
        assert_eq!(after.busy_cores_since(&before, 2), Some(1.0));
        assert_eq!(before.busy_cores_since(&before, 2), None);
        assert!(Ticks::parse("cpu  1 2 x").is_none() && Ticks::parse("").is_none());
    }

    #[test]
    fn the_average_counts_for_the_first_part_alone() {
        assert_eq!(of_others(Some("3.25"), true), Some(3.25));
        assert_eq!(of_others(None, true), None);
        assert!(of_others(Some("1000000"), false).is_none_or(|cores| cores < 1000000.0));
    }
}
