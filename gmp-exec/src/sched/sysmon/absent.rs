//! Looks at polls that go on without a processor: one that slept may compute by now, and then
//! counts against `max_hogs`; one that computed may sleep, and then does not count.
//!
//! sysmon never wakes up for these looks. It makes them when it looks at the busy processors, and
//! while every processor is idle no task waits for the result. A thread whose CPU clock stands
//! still has slept, and reading that clock takes 0.5 µs. Only a thread that has run is asked for
//! how long it was runnable (5 µs), and that once in a threshold. sysmon asks a few threads in each
//! round, in turns: 500 threads that sleep cost 0.2 % of a core, and each is asked six times a
//! second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::observe;
use crate::sched::hogs::{Span, suspects, time_slice};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::computing::Counts;
use crate::sched::state::machine::Machine;
use crate::sched::sysmon::memory::QUESTIONS;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;
use crate::sys::time_slice::TimeSlice;
use crate::task::StuckBy;

/// The machines that have polled without a processor lately, those first that were looked at least
/// recently.
#[derive(Debug, Default)]
pub(super) struct Absent(VecDeque<AbsentPoll>);

#[derive(Debug)]
struct AbsentPoll {
    machine: Arc<Machine>,
    /// The poll that the rest is about.
    turn: Option<u64>,
    /// The CPU clock at the last look.
    cpu: Option<Duration>,
    /// When the thread was first seen to run after a sleep, or after the last verdict, and how long it
    /// had been runnable then.
    from: Option<(Instant, Duration)>,
}

/// Looks at some of the machines that poll without a processor.
pub(super) fn look(scheduler: &Arc<Scheduler>, absent: &mut Absent, now: Instant) {
    let new = std::mem::take(&mut *scheduler.sysmon.absent.lock());
    absent.0.extend(new.into_iter().map(AbsentPoll::new));
    for _ in 0..absent.0.len().min(QUESTIONS) {
        let Some(mut poll) = absent.0.pop_front() else { return };
        if poll.follow() {
            look_at(scheduler, &mut poll, now);
            absent.0.push_back(poll);
        }
    }
}

fn look_at(scheduler: &Arc<Scheduler>, poll: &mut AbsentPoll, now: Instant) {
    let machine = &poll.machine.clone();
    let Some(turn) = poll.turn.filter(|turn| machine.ownership.is_in_turn(*turn)) else { return };
    let since = poll.from.map_or(now, |(at, _)| at);
    match poll.judge(scheduler.config.blocking_threshold, now) {
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

impl AbsentPoll {
    fn new(machine: Arc<Machine>) -> AbsentPoll {
        AbsentPoll { machine, turn: None, cpu: None, from: None }
    }

    /// Follows the machine to its last turn without a processor. `false`: that is over, and the machine
    /// is no longer listed.
    fn follow(&mut self) -> bool {
        let turn = self.machine.absence.turn();
        if turn != self.turn {
            (self.turn, self.cpu, self.from) = (turn, None, None);
        }
        let is_over = |turn| self.machine.absence.has_ended(turn) || self.machine.ownership.turn() > turn;
        !(turn.is_none_or(is_over) && self.machine.absence.unlist(turn))
    }

    /// What the thread does now. `None`: it has run, but not for long enough to say, or this is the
    /// first look at this turn, or the thread has no clock.
    fn judge(&mut self, threshold: Duration, now: Instant) -> Option<StuckBy> {
        if self.from.is_some_and(|(at, _)| now.duration_since(at) < threshold) {
            return None;
        }
        let cpu = self.machine.cpu_time();
        let has_run = std::mem::replace(&mut self.cpu, cpu)? != cpu?;
        if !has_run && self.from.is_none() {
            return Some(StuckBy::Blocking);
        }
        let runnable = self.machine.runnable_for();
        let from = *self.from.get_or_insert((now, runnable));
        let (elapsed, runnable_since) = (now.duration_since(from.0), runnable.saturating_sub(from.1));
        let cause = Span { elapsed, runnable: runnable_since, waiting: Duration::ZERO }.cause_so_far(threshold)?;
        self.from = (cause == StuckBy::Computing).then_some((now, runnable));
        Some(cause)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::runtime::Builder;
    use crate::sched::state::machine::ownership::Region;

    /// The runtime's own sysmon does not look.
    fn scheduler() -> Arc<Scheduler> {
        let runtime = Builder::new_multi_thread().worker_threads(1).max_hogs(1).build().unwrap();
        let scheduler: Arc<Scheduler> = Arc::clone(runtime.handle().scheduler());
        runtime.shutdown_background();
        scheduler
    }

    fn listed(machines: &[Arc<Machine>]) -> Absent {
        Absent(machines.iter().cloned().map(AbsentPoll::new).collect())
    }

    /// A machine in a poll without a processor, whose thread is the calling one.
    fn machine_of_this_thread() -> Arc<Machine> {
        let machine = Machine::new(1);
        machine.bind();
        machine.ownership.begin(Region::Poll);
        assert!(machine.absence.begin(machine.ownership.turn()));
        machine
    }

    /// A machine in a poll without a processor, whose thread sleeps while `f` runs.
    fn with_sleeping_machine(f: impl FnOnce(&Arc<Machine>)) {
        let (machine, gates) = (Machine::new(1), [(); 2].map(|()| Barrier::new(2)));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                machine.bind();
                gates[0].wait();
                gates[1].wait();
            });
            gates[0].wait();
            machine.ownership.begin(Region::Poll);
            assert!(machine.absence.begin(machine.ownership.turn()));
            while machine.state() == Some(ThreadState::Runnable) {
                std::thread::yield_now();
            }
            f(&machine);
            gates[1].wait();
        });
    }

    fn compute(duration: Duration) {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn many_threads_that_sleep_cost_no_more_than_a_few() {
        let scheduler = scheduler();
        with_sleeping_machine(|machine| {
            let (mut absent, start) = (listed(&vec![machine.clone(); 1_000]), Instant::now());
            let looked_at = |absent: &Absent| absent.0.iter().filter(|poll| poll.turn.is_some()).count();
            for round in 1..=125 {
                look(&scheduler, &mut absent, start + Duration::from_millis(3) * round);
                assert_eq!(looked_at(&absent), QUESTIONS * round as usize);
            }
            assert_eq!(absent.0.len(), 1_000);
            assert_eq!(scheduler.computing.count(&scheduler.hogs), 0);
        });
    }

    #[test]
    fn a_thread_that_computes_counts_until_its_turn_is_over() {
        let (scheduler, machine) = (scheduler(), machine_of_this_thread());
        let mut absent = listed(std::slice::from_ref(&machine));
        let deadline = Instant::now() + Duration::from_secs(60);
        while scheduler.computing.count(&scheduler.hogs) == 0 {
            assert!(Instant::now() < deadline);
            look(&scheduler, &mut absent, Instant::now());
            compute(Duration::from_millis(3));
        }
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 1);
        assert!(machine.ownership.is_marked());
        let _ = machine.ownership.enter();
        machine.absence.end(machine.ownership.turn());
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 0);
    }

    #[test]
    fn a_machine_whose_poll_is_over_is_not_looked_at_until_it_has_another() {
        let (scheduler, machine) = (scheduler(), machine_of_this_thread());
        let (mut absent, start) = (listed(std::slice::from_ref(&machine)), Instant::now());
        look(&scheduler, &mut absent, start);
        let _ = machine.ownership.enter();
        look(&scheduler, &mut absent, start);
        assert_eq!(absent.0.len(), 1, "it may be in scheduler code in its poll");
        machine.absence.end(machine.ownership.turn());
        assert!(!machine.absence.begin(machine.ownership.next_turn()), "it is listed");
        look(&scheduler, &mut absent, start);
        assert_eq!(absent.0.len(), 1, "it is about to begin another");
        machine.ownership.begin(Region::Poll);
        machine.absence.end(machine.ownership.turn());
        look(&scheduler, &mut absent, start);
        assert_eq!(absent.0.len(), 0);
        assert!(machine.absence.begin(machine.ownership.next_turn()), "to be listed again");
    }
}
