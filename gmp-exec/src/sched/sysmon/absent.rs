//! Looks at polls that go on without a processor: one that slept may compute by now, and then
//! counts against `max_hogs`; one that computed may sleep, and then does not count.
//!
//! sysmon never wakes up for these looks. It makes them when it looks at the busy processors, and
//! while every processor is idle no task waits for the result. A thread whose CPU clock stands
//! still has slept, and reading that clock takes 0.5 µs. Only a thread that has run is asked for
//! how long it was runnable (5 µs), and that once in a threshold. sysmon asks a few threads in each
//! round, in turns: 500 threads that sleep cost 0.2 % of a core, and each is asked six times a
//! second.

use std::time::{Duration, Instant};

use crate::observe;
use crate::sched::hogs::{Span, suspects, time_slice};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::computing::Counts;
use crate::sched::state::machine::{Absence, Machine};
use crate::sched::sysmon::memory::QUESTIONS;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;
use crate::sys::time_slice::TimeSlice;
use crate::task::StuckBy;

/// Looks at some of the machines that poll without a processor. `position`: where to go on in the list
/// of all machines.
pub(super) fn look(scheduler: &Arc<Scheduler>, position: &mut usize, now: Instant) {
    let is_absent = |machine: &Machine| machine.absent_turn().is_some();
    for machine in scheduler.all_machines.some(position, QUESTIONS, is_absent) {
        look_at(scheduler, &machine, now);
    }
}

fn look_at(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>, now: Instant) {
    let Some(turn) = machine.absent_turn() else { return };
    let mut absence = machine.absence.lock();
    if absence.turn != turn {
        *absence = Absence { turn, ..Absence::default() };
    }
    let since = absence.from.map_or(now, |(at, _)| at);
    match judge(machine, &mut absence, scheduler.config.blocking_threshold, now) {
        Some(StuckBy::Computing) => computes(scheduler, machine, turn, since),
        Some(StuckBy::Blocking) => sleeps(scheduler, machine, turn, since),
        None => {}
    }
}

/// A poll without a processor computes. A declared section may do so.
fn computes(scheduler: &Scheduler, machine: &Arc<Machine>, turn: u64, since: Instant) {
    if !machine.ownership.is_in_section() && scheduler.computing.computes(machine, turn, Counts::Later) {
        time_slice::lengthen_in(scheduler, machine, turn);
        machine.ownership.mark(turn);
        suspects::suspect_place_of(scheduler, machine, turn);
        observe::on_long_poll(scheduler, machine, turn, since, StuckBy::Computing.into());
    }
}

/// A poll without a processor sleeps. If the kernel does not say so, the thread may also wait for a
/// core.
fn sleeps(scheduler: &Scheduler, machine: &Arc<Machine>, turn: u64, since: Instant) {
    let is_asleep = scheduler.computing.is_computing(machine, turn) && machine.state() == Some(ThreadState::Asleep);
    if is_asleep && scheduler.computing.sleeps(machine, turn) {
        time_slice::set(scheduler, machine, TimeSlice::Short);
        if !machine.ownership.is_in_section() {
            observe::on_long_poll(scheduler, machine, turn, since, StuckBy::Blocking.into());
        }
    }
}

/// What the thread does now. `None`: it has run, but not for long enough to say, or this is the first
/// look at this turn, or the thread has no clock.
fn judge(machine: &Machine, absence: &mut Absence, threshold: Duration, now: Instant) -> Option<StuckBy> {
    if absence.from.is_some_and(|(at, _)| now.duration_since(at) < threshold) {
        return None;
    }
    let cpu = machine.cpu_time();
    let has_run = std::mem::replace(&mut absence.cpu, cpu)? != cpu?;
    if !has_run && absence.from.is_none() {
        return Some(StuckBy::Blocking);
    }
    let runnable = machine.runnable_time().total();
    let from = *absence.from.get_or_insert((now, runnable));
    let (elapsed, runnable_since) = (now.duration_since(from.0), runnable.saturating_sub(from.1));
    let cause = Span { elapsed, runnable: runnable_since, waiting: Duration::ZERO }.cause_so_far(threshold)?;
    absence.from = (cause == StuckBy::Computing).then_some((now, runnable));
    Some(cause)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::panic::Location;
    use std::sync::Barrier;

    use super::*;
    use crate::runtime::Builder;
    use crate::sched::state::all_machines::Membership;
    use crate::sched::state::machine::ownership::{ProcessorToken, Region};
    use crate::task::Id;

    /// The runtime's own sysmon does not look.
    fn scheduler() -> Arc<Scheduler> {
        let runtime = Builder::new_multi_thread().worker_threads(1).max_hogs(1).build().unwrap();
        let scheduler: Arc<Scheduler> = Arc::clone(runtime.handle().scheduler());
        runtime.shutdown_background();
        scheduler
    }

    /// Machines in polls without a processor, whose thread is the calling one.
    fn absent(scheduler: &Scheduler, count: usize) -> (Vec<Arc<Machine>>, Vec<Membership>) {
        let machines = (0..count).map(|_| {
            let machine = Machine::new(1);
            machine.bind();
            machine.ownership.begin(Region::Poll);
            (machine.clone(), scheduler.all_machines.enter(machine))
        });
        machines.unzip()
    }

    fn compute(duration: Duration) {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn many_threads_that_sleep_cost_no_more_than_a_few() {
        let (scheduler, gates) = (scheduler(), [(); 2].map(|()| Barrier::new(2)));
        std::thread::scope(|scope| {
            let machine = scope.spawn(|| {
                let (machines, _memberships) = absent(&scheduler, 1_000);
                gates[0].wait();
                gates[1].wait();
                machines
            });
            gates[0].wait();
            let (mut position, start) = (0, Instant::now());
            let looked_at = || {
                let mut count = 0;
                scheduler.all_machines.for_each(|machine| count += usize::from(machine.absence.lock().turn > 0));
                count
            };
            for round in 1..=125 {
                look(&scheduler, &mut position, start + Duration::from_millis(3) * round);
                assert_eq!(looked_at(), QUESTIONS * round as usize);
            }
            assert_eq!(scheduler.computing.count(&scheduler.hogs), 0);
            gates[1].wait();
            assert_eq!(machine.join().unwrap().len(), 1_000);
        });
    }

    #[test]
    fn a_thread_that_computes_counts_until_its_turn_is_over() {
        let scheduler = scheduler();
        let (machines, _memberships) = absent(&scheduler, 1);
        let (mut position, ownership) = (0, &machines[0].ownership);
        let deadline = Instant::now() + Duration::from_secs(60);
        while scheduler.computing.count(&scheduler.hogs) == 0 {
            assert!(Instant::now() < deadline);
            look(&scheduler, &mut position, Instant::now());
            compute(Duration::from_millis(3));
        }
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 1);
        assert!(ownership.is_marked());
        let _ = ownership.enter();
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 1, "it may be in scheduler code in its poll");
        ownership.end_turn();
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 0);
    }

    #[test]
    fn a_machine_is_looked_at_in_polls_of_tasks_without_a_processor_only() {
        let scheduler = scheduler();
        let (machines, _memberships) = absent(&scheduler, 1);
        let machine = &machines[0];
        let is_looked_at = || {
            look(&scheduler, &mut 0, Instant::now());
            machine.absence.lock().turn == machine.ownership.turn()
        };
        assert!(is_looked_at());
        let _ = machine.ownership.enter();
        machine.ownership.end_turn();
        assert!(!is_looked_at(), "the poll is over");
        machine.running.write(Id::next(), Location::caller());
        machine.running.set_closure(true);
        machine.ownership.begin(Region::Blocking);
        assert!(!is_looked_at(), "a closure");
        let _ = machine.ownership.enter();
        machine.running.set_closure(false);
        machine.ownership.begin(Region::Poll);
        assert!(is_looked_at());
        let _ = machine.ownership.enter();
        machine.ownership.acquire(ProcessorToken::mint(0..1).remove(0));
        machine.ownership.begin(Region::Poll);
        assert!(!is_looked_at(), "it has a processor");
    }
}
