//! What sysmon remembers between two looks: machines in polls, for how long, and whether they sleep or
//! compute.
//!
//! sysmon recognises a poll by its number and not by samples of the clock, so it never takes a
//! number of short polls for one long poll. Sections inside a poll do not end it.

use std::time::{Duration, Instant};

use crate::observe::{self, Usage};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Region, Sighting};
use crate::sched::sysmon::long_polls::LongPolls;
use crate::sched::sysmon::pace::Pace;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;
use crate::task::StuckBy;

#[derive(Default)]
pub(crate) struct Memory {
    pub(super) seen: Vec<Seen>,
    looked_at: Option<Instant>,
    /// The sum of all processors' counts of turns.
    all_turns: u32,
    pub(super) long_polls: LongPolls,
    /// A machine or a submitter has called for the next look, or sysmon itself has: work waits that no
    /// submitter has called for, or a timer comes due then.
    pub(super) was_called: bool,
    /// When sysmon looked, something waited and no processor was idle.
    pub(super) is_anything_waiting: bool,
    pub(super) pace: Pace,
    /// When `let_in` last let polls in, or since when one has waited for that; `None`: none waits.
    pub(super) let_in: Option<Instant>,
}

impl Memory {
    /// Compares where the machines are with where they were at the last look. The time in between
    /// counts for no more than `longest`: if sysmon was late, the machines may have been kept from
    /// running as well.
    pub(super) fn update(&mut self, scheduler: &Scheduler, longest: Duration, now: Instant) {
        let step = self.looked_at.replace(now).map_or(Duration::ZERO, |at| now.duration_since(at)).min(longest);
        let mut before = std::mem::take(&mut self.seen);
        self.seen.extend(scheduler.holders().map(|(machine, sighting)| {
            let same = |seen: &Seen| Arc::ptr_eq(&seen.machine, &machine) && seen.sighting.is_same_turn(sighting);
            match before.iter().position(same) {
                Some(at) => before.swap_remove(at).again(sighting, step, now),
                None => Seen::new(machine, sighting, now),
            }
        }));
        // A poll that was reported is over. If its processor was taken, the poll goes on, and its machine
        // records the end.
        for Seen { machine, sighting, usage, .. } in &before {
            if usage.reported.is_some() && !machine.ownership.is_in_turn(sighting.turn()) {
                observe::on_end_of_long_poll(scheduler, machine, sighting.turn());
            }
        }
    }

    /// Whether a processor has had a turn since the last call of this function.
    pub(super) fn have_turns_passed(&mut self, scheduler: &Scheduler) -> bool {
        let turns = scheduler.processors.iter().fold(0, |sum: u32, processor| sum.wrapping_add(processor.ticks()));
        std::mem::replace(&mut self.all_turns, turns) != turns
    }

    /// Whether a poll or a section has lasted from one look to the next.
    pub(super) fn is_any_stuck(&self) -> bool {
        self.seen.iter().any(|seen| seen.is_again)
    }
}

/// A machine with a processor, in a poll or a blocking section.
pub(super) struct Seen {
    pub(super) machine: Arc<Machine>,
    pub(super) sighting: Sighting,
    /// A section that is seen begins a new time, and so does its end. The fields that follow are about
    /// this time, too.
    pub(super) usage: Usage,
    /// The CPU clock at this look; `None`: not read, or there is none.
    cpu: Option<Duration>,
    /// The time since the last look, if the CPU clock has stood still.
    still: Duration,
    pub(super) is_again: bool,
    /// The thread was found asleep at this look.
    is_asleep: bool,
    /// sysmon has learnt that the poll is long.
    is_long: bool,
}

/// The limits that a look judges by.
pub(super) struct Standard {
    /// How long a poll may compute now: the threshold of the configuration, or a part.
    pub(super) threshold: Duration,
    /// The threshold of the configuration.
    pub(super) configured: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    /// Asleep, or in a section, but that may end in a moment.
    Asleep,
    /// Its processor may be taken.
    Stuck(StuckBy),
}

impl Seen {
    pub(super) fn new(machine: Arc<Machine>, sighting: Sighting, since: Instant) -> Seen {
        let [is_again, is_asleep, is_long] = [false; 3];
        let (usage, still, cpu) = (Usage::new(since), Duration::ZERO, machine.cpu_time());
        Seen { machine, sighting, usage, cpu, still, is_again, is_asleep, is_long }
    }

    /// The same poll, seen once more.
    pub(super) fn again(mut self, sighting: Sighting, step: Duration, now: Instant) -> Seen {
        if sighting.region != self.sighting.region {
            let mut anew = Seen::new(self.machine, sighting, now);
            anew.usage.reported = self.usage.reported;
            return anew;
        }
        let cpu = self.machine.cpu_time();
        let advance = cpu.zip(self.cpu).map(|(now, before)| now.saturating_sub(before));
        let is_same = sighting == self.sighting;
        self.is_again = true;
        self.is_asleep &= is_same;
        self.usage.held += step;
        self.usage.used += advance.unwrap_or_default();
        self.still = if is_same && advance == Some(Duration::ZERO) { step } else { Duration::ZERO };
        (self.sighting, self.cpu) = (sighting, cpu);
        self
    }

    /// Whether the poll has begun to be long: it has lasted for at least `length`, and was on a core
    /// for half of the time, or is asleep. A thread without a core says nothing about its poll.
    pub(super) fn has_become_long(&mut self, length: Duration) -> bool {
        let is_busy = self.is_asleep || self.cpu.is_none() || self.usage.used * 2 >= self.usage.held;
        let is_long = self.sighting.region == Region::Poll && self.usage.held >= length && is_busy;
        is_long && !std::mem::replace(&mut self.is_long, is_long)
    }

    /// Whether a stuck machine may keep its processor, for which nothing waits: for `limit` in a poll, and
    /// not at all in a section. Either may last for hours, and may be the only thing that sysmon looks at.
    pub(super) fn may_keep_processor(&self, limit: Duration) -> bool {
        self.sighting.region == Region::Poll && self.usage.held < limit
    }

    /// Judges the machine's thread. `is_waited_for`: something waits for its processor, so sysmon
    /// asks whether the thread sleeps as soon as the poll has lasted from one look to the next. Most polls
    /// have not, and two questions cost as much as the rest of a look.
    pub(super) fn judge(&mut self, is_waited_for: bool, standard: &Standard) -> Verdict {
        if self.sighting.region == Region::Blocking {
            return if self.is_again { Verdict::Stuck(StuckBy::Blocking) } else { Verdict::Asleep };
        }
        let (is_long, still) = (self.usage.held >= standard.threshold, self.still);
        if !is_long && (!self.is_again || !is_waited_for && still.is_zero()) {
            return Verdict::Fine;
        }
        let state = self.machine.state();
        let was_asleep = std::mem::replace(&mut self.is_asleep, state == Some(ThreadState::Asleep));
        if state == Some(ThreadState::Runnable) {
            self.usage.starved += still;
        }
        // The kernel's answer is about this moment only: a thread that waits 5 µs for a lock is asleep,
        // too. In a model a thread that sleeps sleeps on.
        let sleeps_on = was_asleep || !still.is_zero() || cfg!(loom);
        match state {
            Some(ThreadState::Asleep) if sleeps_on => Verdict::Stuck(StuckBy::Blocking),
            Some(ThreadState::Asleep) => Verdict::Asleep,
            // A thread that is runnable but hardly ever gets a core is held up by the computer. The
            // task is not the cause.
            _ if is_long && self.usage.used * 20 > self.usage.held.max(standard.configured) => {
                Verdict::Stuck(StuckBy::Computing)
            }
            None if is_long => Verdict::Stuck(StuckBy::Blocking),
            _ => Verdict::Fine,
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::observe::BlockedCause;

    const MS: Duration = Duration::from_millis(1);

    fn sighting(region: Region, polls: u64) -> Sighting {
        Sighting { processor: 0, region, polls }
    }

    fn again(seen: Seen, step: Duration, now: Instant) -> Seen {
        let sighting = seen.sighting;
        seen.again(sighting, step, now)
    }

    /// A poll, seen at looks that are so many milliseconds apart.
    fn seen_at(begin: Instant, steps: &[u32]) -> Seen {
        let first = Seen::new(Machine::new(0), sighting(Region::Poll, 0), begin);
        steps.iter().fold(first, |seen, step| again(seen, MS * *step, begin))
    }

    /// In a busy service nearly every poll that a look sees is over at the next one.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_is_asked_only_about_a_poll_that_was_seen_before() {
        use std::sync::mpsc;
        use std::thread;

        let (machine, begin) = (Machine::new(0), Instant::now());
        let (sleeper, (end, until)) = (machine.clone(), mpsc::channel::<()>());
        let thread = thread::spawn(move || {
            sleeper.bind();
            until.recv()
        });
        while machine.state() != Some(ThreadState::Asleep) {
            assert!(begin.elapsed() < MS * 10_000, "the thread does not sleep");
            thread::yield_now();
        }
        let standard = Standard { threshold: MS * 10, configured: MS * 10 };
        let mut seen = Seen::new(machine, sighting(Region::Poll, 0), begin);
        assert_eq!(seen.judge(true, &standard), Verdict::Fine, "not seen before");
        let mut seen = again(seen, Duration::ZERO, begin);
        assert_eq!(seen.judge(false, &standard), Verdict::Fine, "nothing waits");
        assert_eq!(seen.judge(true, &standard), Verdict::Asleep);
        drop(end);
        assert!(thread.join().unwrap().is_err());
    }

    /// sysmon would look closely, and machines would wake successors, until the poll ends.
    #[test]
    fn a_poll_is_long_once() {
        let mut seen = seen_at(Instant::now(), &[1]);
        assert!(!seen.has_become_long(MS * 2));
        let mut seen = again(seen, MS, Instant::now());
        assert!(seen.has_become_long(MS * 2));
        let mut seen = again(seen, MS * 3_600_000, Instant::now());
        assert!(!seen.has_become_long(MS * 2));
    }

    /// The computer is crowded. If machines woke successors, it would be more so.
    #[test]
    fn a_poll_that_gets_no_core_is_not_long() {
        let mut seen = seen_at(Instant::now(), &[3, 3]);
        (seen.cpu, seen.usage.used) = (Some(MS * 2), MS * 2);
        assert!(!seen.has_become_long(MS * 2));
        (seen.cpu, seen.usage.used) = (Some(MS * 3), MS * 3);
        assert!(seen.has_become_long(MS * 2));
    }

    #[test]
    fn a_poll_that_sleeps_is_long_without_a_core() {
        let mut seen = seen_at(Instant::now(), &[3]);
        (seen.cpu, seen.is_asleep) = (Some(MS), true);
        assert!(seen.has_become_long(MS * 2));
    }

    /// With its first interval unknown, a poll whose thread was preempted counted as long.
    #[test]
    fn the_first_interval_counts() {
        let (machine, begin) = (Machine::new(0), Instant::now());
        machine.bind();
        let mut seen = again(Seen::new(machine, sighting(Region::Poll, 0), begin), MS * 3_600_000, begin);
        assert!(!seen.has_become_long(MS * 2));
    }

    /// What the poll waited for before a section says nothing about the time after the section.
    #[test]
    fn a_section_begins_a_new_time_and_so_does_its_end() {
        let begin = Instant::now();
        let mut seen = seen_at(begin, &[6]);
        (seen.usage.starved, seen.usage.reported) = (MS * 4, Some(BlockedCause::Starved));
        let seen = seen.again(sighting(Region::Blocking, 1), MS, begin + MS * 7);
        assert_eq!((seen.usage.held, seen.usage.starved, seen.is_again), (Duration::ZERO, Duration::ZERO, false));
        let seen = seen.again(sighting(Region::Poll, 2), MS, begin + MS * 8);
        assert_eq!(
            (seen.usage.held, seen.usage.since, seen.usage.reported),
            (Duration::ZERO, begin + MS * 8, Some(BlockedCause::Starved))
        );
    }
}
