//! The workloads, and the table with their names, sizes and goals.
//!
//! A round does its preparation (channels, vectors) before it starts its clock, and its clock runs
//! inside the runtime wherever the work does: the thread that waits for the result is woken after
//! the last reading. A repetition has as many rounds as take tokio about 10 ms.

mod channels;
mod countdown;
mod io;
mod shared;
mod start;
mod tasks;
mod time;

use std::time::Duration;

use anyhow::Result;

use self::channels::{HOPS, MESSAGES, mpsc, ring};
pub(crate) use self::countdown::Countdown;
use crate::memory;
use crate::report::Goal;
use crate::rt::{Io, Rt, Twin};

/// One workload on one runtime.
#[derive(Debug)]
pub struct Workload<R> {
    pub name: &'static str,
    pub group: Group,
    /// Runs the workload once and returns how long its `ops` operations took: by the clock, or in
    /// CPU time for rows that measure it. `None` if a process of its own measures the row.
    round: Option<fn(&R) -> Duration>,
    pub ops: u32,
    pub rounds: u32,
    /// A number of nanoseconds between the workload's two modes, if it has two.
    pub modes: Option<f64>,
    /// Whether a repetition takes a second or more on some side.
    pub slow: bool,
    /// Whether the goal is for gmp's own median in nanoseconds, and not for the ratio to tokio's.
    pub goal_is_nanos: bool,
    goal: Option<Goal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Tasks and their wake-ups: the rows of the geometric mean.
    Scheduler,
    /// More of them, and many tasks at one channel or lock.
    Shared,
    /// Building runtimes, and `block_on`.
    Start,
    Blocking,
    Time,
    Io,
    Memory,
}

/// The goal for the geometric mean of the scheduler's rows.
pub fn mean_goal(procs: usize) -> Option<Goal> {
    match procs {
        2 => goal(0.50, 0.40),
        64 => goal(0.55, 0.45),
        _ => None,
    }
}

/// The scheduler's rows also have a goal for 64 Ps on two cores; `goal` is the one for 2 Ps.
fn scheduler_goal(goal: Goal, procs: usize) -> Option<Goal> {
    match procs {
        2 => Some(goal),
        64 => Some(Goal { limit: 1.00, aim: 0.70 }),
        _ => None,
    }
}

impl<R: Rt> Workload<R> {
    /// One repetition: nanoseconds per operation, or bytes per task.
    pub fn repetition(&self, rt: &R) -> Result<f64> {
        let Some(round) = self.round else {
            return memory::in_own_process(R::NAME, rt.procs());
        };
        let total: Duration = (0..self.rounds).map(|_| round(rt)).sum();
        Ok(total.as_nanos() as f64 / f64::from(self.rounds) / f64::from(self.ops))
    }

    pub fn unit(&self) -> &'static str {
        if self.group == Group::Memory { "bytes" } else { "ns/op" }
    }

    pub fn goal(&self, procs: usize) -> Option<Goal> {
        match self.group {
            Group::Scheduler => scheduler_goal(self.goal?, procs),
            _ => self.goal.filter(|_| procs == 2),
        }
    }
}

pub fn all<R: Io>() -> Vec<Workload<R>> {
    let groups =
        [scheduler(), shared(), of_twins(), start(), blocking(), in_place(), timers(), sockets_and_files(), memory()];
    groups.into_iter().flatten().collect()
}

/// The workloads that need nothing that smol lacks.
pub fn common<R: Rt>() -> Vec<Workload<R>> {
    [scheduler(), shared(), blocking(), timers(), memory()].into_iter().flatten().collect()
}

/// The rows of the geometric mean.
#[rustfmt::skip] // a line a row
pub fn scheduler<R: Rt>() -> Vec<Workload<R>> {
    use Group::Scheduler;
    vec![
        row("spawn_local", Scheduler, tasks::spawn_local, tasks::SPAWNED, goal(0.50, 0.30)).rounds(2),
        row("spawn_remote", Scheduler, tasks::spawn_remote, tasks::SPAWNED, goal(0.65, 0.40)).rounds(2),
        row("spawn_join", Scheduler, tasks::spawn_join, tasks::SPAWNED, goal(0.40, 0.25)).rounds(2),
        row("yield_many", Scheduler, tasks::yield_many, tasks::YIELDS, goal(0.70, 0.50)),
        row("ping_pong", Scheduler, tasks::ping_pong, tasks::PINGS, goal(0.55, 0.40)).rounds(8),
        row("chained_spawn", Scheduler, tasks::chained_spawn, tasks::DEPTH, goal(0.35, 0.20)).rounds(20),
        row("mpsc_128", Scheduler, mpsc::<R, 128>, MESSAGES, goal(0.95, 0.70)),
        // On tokio a message takes about 250 ns in one repetition and 470 in the next.
        Workload { modes: Some(360.0), ..row("mpsc_1", Scheduler, mpsc::<R, 1>, MESSAGES, goal(0.80, 0.50)) },
        row("ring_500", Scheduler, ring, HOPS, goal(0.90, 0.60)),
    ]
}

/// The rows outside of the mean that every side has.
#[rustfmt::skip] // a line a row
fn shared<R: Rt>() -> Vec<Workload<R>> {
    use Group::Shared;
    vec![
        row("spawn_1m", Shared, tasks::spawn_many, tasks::SPAWNED_MANY, goal(0.60, 0.40)).slow(),
        row("fan_in_64", Shared, shared::fan_in::<R, 64>, shared::MESSAGES, goal(0.95, 0.70)),
        row("fan_in_1000", Shared, shared::fan_in::<R, 1_000>, shared::MESSAGES, goal(0.95, 0.70)),
        row("select_loop", Shared, shared::select, shared::MESSAGES, goal(0.95, 0.70)),
        row("mutex_2", Shared, shared::mutex::<R, 2>, shared::LOCKINGS, goal(0.70, 0.50)),
        row("mutex_64", Shared, shared::mutex::<R, 64>, shared::LOCKINGS, goal(0.70, 0.50)),
        row("semaphore", Shared, shared::semaphore, shared::LOCKINGS, goal(0.80, 0.60)),
        row("broadcast_1000", Shared, shared::broadcast, shared::WAKES, goal(0.95, 0.60)),
    ]
}

#[rustfmt::skip] // a line a row
fn of_twins<R: Twin>() -> Vec<Workload<R>> {
    use Group::Shared;
    vec![
        row("join_set", Shared, tasks::join_set, tasks::SPAWNED, goal(0.95, 0.70)).rounds(2),
        row("abort", Shared, tasks::abort, tasks::SPAWNED, goal(0.80, 0.60)).rounds(2),
    ]
}

#[rustfmt::skip] // a line a row
fn start<R: Twin>() -> Vec<Workload<R>> {
    use Group::Start;
    vec![
        row("runtime_new", Start, start::multi_thread, start::RUNTIMES, goal(1.00, 0.80)),
        row("runtime_new_1", Start, start::current_thread, start::RUNTIMES, goal(1.00, 0.80)).rounds(4),
        row("runtime_new_test", Start, start::for_test, start::RUNTIMES, goal(1.00, 0.80)).rounds(4),
        row("block_on_ready", Start, start::block_on_ready, start::CALLS, goal(1.00, 0.80)).rounds(4),
    ]
}

fn blocking<R: Rt>() -> Vec<Workload<R>> {
    vec![row("spawn_blocking", Group::Blocking, tasks::spawn_blocking, tasks::CLOSURES, goal(0.90, 0.50))]
}

#[rustfmt::skip] // a line a row
fn in_place<R: Twin>() -> Vec<Workload<R>> {
    use Group::Blocking;
    vec![
        row("spawn_in_place", Blocking, tasks::spawn_in_place, tasks::CLOSURES, goal(0.05, 0.02)),
        row("block_in_place", Blocking, tasks::fresh, tasks::IN_PLACE, goal(0.30, 0.05)).rounds(3),
        row("block_warm", Blocking, tasks::warm, tasks::IN_PLACE, None).rounds(3),
        row("block_yielding", Blocking, tasks::yielding, tasks::IN_PLACE, None),
    ]
}

#[rustfmt::skip] // a line a row
fn timers<R: Rt>() -> Vec<Workload<R>> {
    use Group::Time;
    vec![
        row("timeouts", Time, time::timeouts, time::TIMEOUTS, goal(0.35, 0.20)),
        row("timers_20k", Time, time::timers, time::SLEEPERS, goal(1.00, 0.70)),
        // These rows take more than a second each on every side.
        row("company_10k", Time, time::company::<R, 10_000>, 10_000, goal(1.00, 0.70)).slow(),
        row("company_100k", Time, time::company::<R, 100_000>, 100_000, goal(1.00, 0.70)).slow(),
        row("company_1m", Time, time::company::<R, 1_000_000>, 1_000_000, goal(1.00, 0.70)).slow(),
        Workload { goal_is_nanos: true, ..row("sleep_50us", Time, time::sleep, 1, goal(100_000.0, 60_000.0)) },
    ]
}

#[rustfmt::skip] // a line a row
fn sockets_and_files<R: Io>() -> Vec<Workload<R>> {
    use Group::Io;
    vec![
        row("echo_1", Io, io::tcp::<R, 1>, io::EXCHANGES, goal(1.00, 0.85)),
        row("echo_64", Io, io::tcp::<R, 64>, io::EXCHANGES, goal(1.00, 0.85)),
        row("echo_1000", Io, io::crowd, io::CROWD_EXCHANGES, goal(0.40, 0.20)).slow(),
        row("udp_echo_1", Io, io::udp::<R, 1>, io::EXCHANGES, goal(1.00, 0.85)),
        row("udp_echo_64", Io, io::udp::<R, 64>, io::EXCHANGES, goal(1.00, 0.85)),
        row("unix_echo_1", Io, io::unix::<R, 1>, io::EXCHANGES, goal(1.00, 0.85)),
        row("unix_echo_64", Io, io::unix::<R, 64>, io::EXCHANGES, goal(1.00, 0.85)),
        row("connect", Io, io::connect, io::CONNECTIONS, goal(1.00, 0.85)),
        row("bulk_tcp", Io, io::bulk, io::PIECES, goal(1.00, 0.85)),
        row("fs_read_1", Io, io::read_file::<R, 1>, io::READS, goal(0.15, 0.05)),
        row("fs_read_64", Io, io::read_file::<R, 64>, io::READS, goal(0.50, 0.35)).rounds(2),
    ]
}

fn memory<R>() -> Vec<Workload<R>> {
    let row = row(memory::NAME, Group::Memory, |_| Duration::ZERO, memory::TASKS, goal(0.60, 0.40));
    vec![Workload { round: None, ..row.slow() }]
}

fn row<R>(name: &'static str, group: Group, round: fn(&R) -> Duration, ops: u32, goal: Option<Goal>) -> Workload<R> {
    let round = Some(round);
    Workload { name, group, round, ops, rounds: 1, modes: None, slow: false, goal_is_nanos: false, goal }
}

fn goal(limit: f64, aim: f64) -> Option<Goal> {
    Some(Goal { limit, aim })
}

impl<R> Workload<R> {
    fn rounds(self, rounds: u32) -> Self {
        Workload { rounds, ..self }
    }

    fn slow(self) -> Self {
        Workload { slow: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::rt::Tokio;

    #[test]
    fn names_are_unique_and_described_and_goals_exist_for_the_decided_numbers_of_procs_alone() {
        let rows = all::<Tokio>();
        let readme = include_str!("../../README.md");
        assert!(rows.iter().all(|row| readme.contains(&format!("`{}`", row.name))));
        assert_eq!(rows.iter().map(|row| row.name).collect::<HashSet<_>>().len(), rows.len());
        for row in rows.iter().filter(|row| row.goal.is_some()) {
            let for_64 = row.group == Group::Scheduler;
            assert_eq!([2, 4, 64].map(|procs| row.goal(procs).is_some()), [true, false, for_64], "{}", row.name);
        }
    }
}
