//! The cost of a process: its threads, CPU time, memory and context switches, from Linux's `/proc`.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use procfs::process::{Process, Task};
use rustix::time::{ClockId, clock_gettime};

#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub threads: u64,
    /// The CPU time of all its threads, ended ones too, in steps of the kernel's tick (10 ms).
    pub cpu: Duration,
}

/// Takes a snapshot of process `pid`, or of this one.
pub fn cost(pid: Option<u32>) -> Result<Cost> {
    let stat = of(pid)?.stat()?;
    let millis = (stat.utime + stat.stime) * 1000 / procfs::ticks_per_second();
    Ok(Cost { threads: stat.num_threads.unsigned_abs(), cpu: Duration::from_millis(millis) })
}

/// The CPU time of this process, in all its threads and in the kernel, to the nanosecond.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("CPU time is not negative")
}

/// The bytes of memory that process `pid`, or this one, occupies.
///
/// The kernel counts page by page for `smaps_rollup`. Its counters in `stat` and `status` are
/// batched per core and may be wrong by more than a thousand connections need.
pub fn resident(pid: Option<u32>) -> Result<u64> {
    let rollup = of(pid)?.smaps_rollup()?.memory_map_rollup;
    let bytes = rollup.iter().find_map(|map| map.extension.map.get("Rss").copied());
    bytes.context("`smaps_rollup` doesn't say how much is resident")
}

pub fn descriptors(pid: u32) -> Result<usize> {
    Ok(of(Some(pid))?.fd_count()?)
}

fn of(pid: Option<u32>) -> Result<Process> {
    Ok(pid.map_or_else(Process::myself, |pid| Process::new(pid as i32))?)
}

/// How often the kernel has switched away from each thread of a process, by thread id.
///
/// A thread that ends takes its count with it, so the difference of two sums may be too small or
/// even negative. Here each thread has its own difference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches(BTreeMap<i32, u64>);

impl Switches {
    /// Counts the threads that process `pid`, or this one, has now.
    pub fn of(pid: Option<u32>) -> Result<Self> {
        // A thread may end between the listing and the read.
        Ok(Switches(of(pid)?.tasks()?.filter_map(|task| of_thread(&task.ok()?)).collect()))
    }

    /// Counts the threads of this process without the calling one.
    pub fn of_others() -> Result<Self> {
        let mut all = Switches::of(None)?;
        all.0.remove(&rustix::thread::gettid().as_raw_nonzero().get());
        Ok(all)
    }

    /// The number of switches since `before`. For a thread that has ended since, the switches after
    /// `before` are unknown and not counted; for a new thread, all of them are.
    pub fn since(&self, before: &Switches) -> u64 {
        // A count that has become smaller belongs to a new thread with an old thread's id.
        let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        self.0.iter().map(|(thread, &now)| since(now, before.0.get(thread).copied().unwrap_or(0))).sum()
    }
}

fn of_thread(thread: &Task) -> Option<(i32, u64)> {
    let status = thread.status().ok()?;
    Some((thread.tid, status.voluntary_ctxt_switches? + status.nonvoluntary_ctxt_switches?))
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    const TICK: Duration = Duration::from_millis(10);

    #[test]
    fn cpu_time_is_that_of_all_threads_on_both_clocks_and_a_new_thread_is_counted() {
        let (before, nanos) = (cost(None).unwrap().cpu, cpu_time());
        // Two steps may take no time at all, because user and system time are cut to ticks one by one, and
        // `before` may lack another tick of this thread, which is running.
        let enough = before + 5 * TICK;
        let deadline = Instant::now() + Duration::from_secs(30);
        let worker = thread::spawn(move || {
            let mut now = cost(None).unwrap();
            while now.cpu < enough {
                assert!(Instant::now() < deadline, "no CPU time counted");
                now = cost(None).unwrap();
            }
            now.threads
        });
        assert!(worker.join().unwrap() > 1 && cpu_time() >= nanos + TICK);
    }

    #[test]
    fn a_thread_that_has_ended_takes_nothing_away_and_a_new_one_counts_from_nothing_even_under_an_old_id() {
        fn of<const N: usize>(threads: [(i32, u64); N]) -> Switches {
            Switches(threads.into())
        }
        assert_eq!(of([(1, 12)]).since(&of([(1, 10), (2, 1000)])), 2);
        assert_eq!(of([(1, 10), (2, 5)]).since(&of([(1, 10)])), 5);
        assert_eq!(of([(1, 10), (2, 5)]).since(&of([(1, 10), (2, 1000)])), 5);
    }
}
