//! Looks at polls that go on without a processor: one that slept may compute by now, and then
//! counts against `max_hogs`; one that computed may sleep, and then does not count.
//!
//! sysmon never wakes up for these looks. It makes them when it looks at the busy processors, and
//! while every processor is idle no task waits for the result. A thread whose CPU clock stands
//! still has slept, and reading that clock takes 0.5 µs. Only a thread that has run is asked for
//! how long it was runnable (5 µs). The longer a thread does the same, the more rarely sysmon looks
//! at it, and it asks no more than [`COST`] allows in one look: 500 threads that sleep cost 0.1 %
//! of a core.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::observe;
use crate::sched::hogs::Span;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;
use crate::task::StuckBy;

/// What the questions of one look may cost, in readings of a thread's CPU clock.
const COST: u32 = 48;
/// The cost of asking the kernel how long a thread was runnable.
const RUNNABLE: u32 = 8;
/// How many machines are considered in one look. Finding that a machine need not be asked takes a
/// few nanoseconds.
const CONSIDERED: usize = 128;
/// A thread that keeps sleeping is looked at once in this many thresholds at least.
const ASLEEP: u32 = 32;
/// The same for a thread that goes on computing: if it falls asleep, others may compute.
const COMPUTING: u32 = 4;
/// After this many looks in a row that found a machine in no poll without a processor, it is no
/// longer watched. One such look proves nothing, because a poll is in scheduler code now and then.
const VAIN: u32 = 4;

/// The machines that have polled without a processor lately, those first that were looked at least
/// recently.
#[derive(Debug, Default)]
pub(super) struct Absent {
    watched: VecDeque<AbsentPoll>,
    looked_at: Option<Instant>,
}

#[derive(Debug)]
struct AbsentPoll {
    machine: Arc<Machine>,
    /// The poll that the rest is about.
    turn: Option<u64>,
    /// The CPU clock at the last look.
    cpu: Option<Duration>,
    /// When the thread was first seen to run after a sleep, or after the last verdict.
    from: Option<Reading>,
    next: Instant,
    pause: Duration,
    vain: u32,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Instant,
    runnable: Duration,
}

/// The end of a look at a machine: what it has cost, and whether sysmon goes on watching.
enum Looked {
    For(u32),
    Dropped,
}

impl Absent {
    fn add(&mut self, machines: Vec<Arc<Machine>>, now: Instant, pace: Duration) {
        self.watched.extend(machines.into_iter().map(|machine| AbsentPoll::new(machine, now + pace, pace)));
    }
}

impl Scheduler {
    /// Looks at some of the machines that poll without a processor.
    pub(super) fn look_at_absent(self: &Arc<Self>, absent: &mut Absent, now: Instant) {
        let pace = self.regular_pace();
        if absent.looked_at.is_some_and(|at| now.duration_since(at) < pace) {
            return;
        }
        absent.looked_at = Some(now);
        absent.add(std::mem::take(&mut *self.sysmon.absent.lock()), now, pace);
        let mut cost = 0;
        for _ in 0..absent.watched.len().min(CONSIDERED) {
            if cost >= COST {
                return;
            }
            let Some(mut watch) = absent.watched.pop_front() else { return };
            match self.look_at(&mut watch, now) {
                Looked::For(more) => {
                    cost += more;
                    absent.watched.push_back(watch);
                }
                Looked::Dropped => {}
            }
        }
    }

    fn look_at(self: &Arc<Self>, watch: &mut AbsentPoll, now: Instant) -> Looked {
        if now < watch.next {
            return Looked::For(0);
        }
        let last = watch.machine.absence.turn();
        let Some(turn) = last.filter(|turn| watch.machine.ownership.is_in_turn(*turn)) else {
            return watch.look_without_result(last);
        };
        watch.follow(turn, self.regular_pace());
        let threshold = self.config.blocking_threshold;
        let since = watch.from.map_or(now, |from| from.at);
        let (cause, cost) = watch.judge(threshold, now);
        let is_news = match cause {
            Some(StuckBy::Computing) => self.note_computing(&watch.machine, turn, since),
            Some(StuckBy::Blocking) => self.note_asleep(&watch.machine, turn, since),
            None => false,
        };
        watch.rest(cause.filter(|_| !is_news), self.regular_pace(), threshold);
        watch.next = now + watch.pause;
        Looked::For(cost)
    }

    /// A poll without a processor computes. A declared section may do so.
    fn note_computing(&self, machine: &Arc<Machine>, turn: u64, since: Instant) -> bool {
        if machine.ownership.is_in_section() || !self.computing.computes(machine, turn) {
            return false;
        }
        self.lengthen_slice_of(machine, turn);
        machine.ownership.mark(turn);
        self.suspect_place_of(machine, turn);
        observe::on_long_poll(self, machine, turn, since, StuckBy::Computing.into());
        true
    }

    /// A poll without a processor sleeps. If the kernel does not say so, the thread may also wait
    /// for a core.
    fn note_asleep(&self, machine: &Arc<Machine>, turn: u64, since: Instant) -> bool {
        let is_asleep = self.computing.is_computing(machine, turn) && machine.state() == Some(ThreadState::Asleep);
        if !is_asleep || !self.computing.sleeps(machine, turn) {
            return false;
        }
        self.shorten_slice(machine);
        if !machine.ownership.is_in_section() {
            observe::on_long_poll(self, machine, turn, since, StuckBy::Blocking.into());
        }
        true
    }
}

impl AbsentPoll {
    fn new(machine: Arc<Machine>, next: Instant, pause: Duration) -> AbsentPoll {
        AbsentPoll { machine, turn: None, cpu: None, from: None, next, pause, vain: 0 }
    }

    /// The machine is in this turn, which may be another one than at the last look.
    fn follow(&mut self, turn: u64, pace: Duration) {
        self.vain = 0;
        if self.turn.replace(turn) != Some(turn) {
            (self.cpu, self.from, self.pause) = (None, None, pace);
        }
    }

    /// The machine is not inside its last turn without a processor.
    fn look_without_result(&mut self, last: Option<u64>) -> Looked {
        self.vain += 1;
        let is_over = self.vain >= VAIN && self.machine.absence.unlist(last);
        if is_over { Looked::Dropped } else { Looked::For(0) }
    }

    /// What the thread does now, and what it has cost to find out. `None`: it has run, but not for
    /// long enough to say, or this is the first look at this turn, or the thread has no clock.
    fn judge(&mut self, threshold: Duration, now: Instant) -> (Option<StuckBy>, u32) {
        let cpu = self.machine.cpu_time();
        let before = std::mem::replace(&mut self.cpu, cpu);
        if cpu.is_none() || before.is_none() {
            return (None, 1);
        }
        let has_run = before != cpu;
        if !has_run && self.from.is_none() {
            return (Some(StuckBy::Blocking), 1);
        }
        let reading = Reading { at: now, runnable: self.machine.runnable_for() };
        let from = *self.from.get_or_insert(reading);
        let elapsed = now.duration_since(from.at);
        let span = Span { elapsed, runnable: reading.runnable.saturating_sub(from.runnable), waiting: Duration::ZERO };
        let cause = span.cause_so_far(threshold);
        match cause {
            Some(StuckBy::Blocking) => self.from = None,
            Some(StuckBy::Computing) => self.from = Some(reading),
            None => {}
        }
        (cause, 1 + RUNNABLE)
    }

    /// How long to wait until the next look. `on`: the thread goes on with what it did before.
    fn rest(&mut self, on: Option<StuckBy>, pace: Duration, threshold: Duration) {
        let most = match on {
            Some(StuckBy::Blocking) => threshold * ASLEEP,
            Some(StuckBy::Computing) => threshold * COMPUTING,
            None => pace,
        };
        self.pause = (self.pause * 2).min(most.max(pace));
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
    fn a_thread_that_sleeps_is_looked_at_more_and_more_rarely() {
        let scheduler = scheduler();
        with_sleeping_machine(|machine| {
            let (mut absent, start) = (Absent::default(), Instant::now());
            absent.add(vec![machine.clone()], start, Duration::ZERO);
            let mut looks = 0;
            for ms in 0..10_000 {
                let next = absent.watched[0].next;
                scheduler.look_at_absent(&mut absent, start + Duration::from_millis(ms));
                looks += usize::from(absent.watched[0].next != next);
            }
            assert!((30..50).contains(&looks), "{looks} in 10 s");
            assert_eq!(scheduler.computing.count(&scheduler.hogs), 0);
        });
    }

    #[test]
    fn many_threads_that_sleep_cost_no_more_than_a_few() {
        let scheduler = scheduler();
        with_sleeping_machine(|machine| {
            let (mut absent, start) = (Absent::default(), Instant::now());
            absent.add(vec![machine.clone(); 1_000], start, Duration::ZERO);
            let looked_at = |absent: &Absent| absent.watched.iter().filter(|watch| watch.turn.is_some()).count();
            let mut before = 0;
            for look in 0..20 {
                scheduler.look_at_absent(&mut absent, start + Duration::from_millis(3) * look);
                let after = looked_at(&absent);
                assert!(after - before <= COST as usize, "{} in one look", after - before);
                before = after;
            }
            assert!(before > 500, "{before}");
            assert_eq!(absent.watched.len(), 1_000);
        });
    }

    #[test]
    fn a_thread_that_computes_counts_until_its_turn_is_over() {
        let (scheduler, machine) = (scheduler(), machine_of_this_thread());
        let mut absent = Absent::default();
        absent.add(vec![machine.clone()], Instant::now(), Duration::ZERO);
        let deadline = Instant::now() + Duration::from_secs(60);
        while scheduler.computing.count(&scheduler.hogs) == 0 {
            assert!(Instant::now() < deadline);
            scheduler.look_at_absent(&mut absent, Instant::now());
            compute(Duration::from_millis(3));
        }
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 1);
        assert!(machine.ownership.is_marked());
        let _ = machine.ownership.enter();
        machine.absence.end(machine.ownership.turn());
        assert_eq!(scheduler.computing.count(&scheduler.hogs), 0);
    }

    #[test]
    fn a_machine_that_polls_with_a_processor_is_soon_watched_no_more() {
        let (scheduler, machine) = (scheduler(), machine_of_this_thread());
        let (mut absent, start) = (Absent::default(), Instant::now());
        absent.add(vec![machine.clone()], start, Duration::ZERO);
        let _ = machine.ownership.enter();
        for look in 0..VAIN {
            assert_eq!(absent.watched.len(), 1);
            scheduler.look_at_absent(&mut absent, start + Duration::from_millis(3) * look);
        }
        assert_eq!(absent.watched.len(), 0);
        assert!(machine.absence.begin(machine.ownership.next_turn()), "to be listed again");
    }
}
