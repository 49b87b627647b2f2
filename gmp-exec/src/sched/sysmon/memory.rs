//! What sysmon has seen: which machine is in which poll, for how long, and whether it sleeps or
//! computes there.
//!
//! sysmon recognises a poll by its number and not by samples of the clock, so it never takes a
//! number of short polls for one long poll. Sections inside a poll do not end it.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::observe::{self, BlockedCause};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Region, Sighting};
use crate::sched::state::processors::Processors;
use crate::sched::sysmon::budget::Budget;
use crate::sched::sysmon::excess::Excess;
use crate::sched::sysmon::watch::Absent;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;
use crate::task::StuckBy;

/// A section that has kept its processor for this long keeps it because no machine is available.
/// sysmon need not look soon because of it.
const SOON_FOR: Duration = Duration::from_millis(10);
/// About how many threads that may sleep sysmon asks the kernel in one look: each question takes 4
/// to 8 µs. With more processors, sysmon asks about other threads in the next look.
pub(super) const QUESTIONS: usize = 8;

/// What sysmon remembers between two looks.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(super) seen: Vec<Seen>,
    before: Vec<Seen>,
    /// The index in `seen` of the first machine that sysmon asked about.
    first: usize,
    looked_at: Option<Instant>,
    /// The sum of the times between looks, each of which counts for no more than a limit: this
    /// clock stands still while the process is stopped.
    pub(super) time: Duration,
    /// Looks in a row between which no processor has had a turn.
    pub(super) idle_looks: u32,
    /// The sum of all processors' counts of turns.
    all_turns: u32,
    pub(super) close_until: Option<Instant>,
    /// When sysmon last learnt of a poll that held its thread for long.
    pub(super) long_poll: Option<Instant>,
    /// When sysmon last saw that a hog held a permit.
    pub(super) computing_hog: Option<Instant>,
    /// The interval between looks while nothing needs attention.
    pub(super) slow_pace: Duration,
    /// A machine or a submitter has called for this look, or sysmon itself has.
    pub(super) was_called: bool,
    /// The next look is sooner than it would be, because work waits that no submitter has called
    /// for, or because a timer comes due then.
    pub(super) calls_itself: bool,
    /// When sysmon looked, something waited and no processor was idle.
    pub(super) is_anything_waiting: bool,
    pub(super) budget: Budget,
    pub(super) excess: Excess,
    pub(super) absent: Absent,
    /// When sysmon last asked processors for a look,
    pub(super) asked: Option<Instant>,
    /// and the count of turns of each processor then.
    pub(super) turns: Vec<u32>,
}

/// A machine with a processor, in a poll or a blocking section.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) machine: Arc<Machine>,
    pub(super) sighting: Sighting,
    /// When this poll was seen for the first time. A section begins a new time, and so does its
    /// end.
    pub(super) since: Instant,
    /// How long the poll was seen outside of sections: the time between two looks that saw it
    /// there.
    pub(super) held: Duration,
    /// How far the CPU clock of the thread has advanced in that time.
    used: Duration,
    /// The CPU clock at this look; `None`: not read, or there is none.
    cpu: Option<Duration>,
    /// This poll or section was seen before.
    is_again: bool,
    /// The CPU clock has not advanced since then.
    stands_still: bool,
    /// The thread was found runnable at this look.
    is_runnable: bool,
    /// How long the poll was probably runnable and without a core: a thread whose CPU clock stood
    /// still between two looks, and which was runnable at one of them, has waited for a core.
    starved: Duration,
    /// `starved` when `since` was last set.
    starved_before: Duration,
    /// Time not yet classified: added to `starved` if the thread is runnable at this look.
    perhaps_starved: Duration,
    /// The cause that was reported for the poll (`observe::report`).
    recorded: Option<BlockedCause>,
    /// The thread was found asleep at this look.
    is_asleep: bool,
}

/// The limits that a look judges by.
#[derive(Debug)]
pub(super) struct Standard {
    /// How long a poll may compute.
    pub(super) threshold: Duration,
    /// How often sysmon may still ask the kernel about a poll that need not be stuck.
    pub(super) questions: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    /// Asleep, but the sleep may end in a moment.
    Asleep,
    /// It has got no core, without which it would not have lasted long.
    Starved,
    /// Its processor may be taken.
    Stuck(StuckBy),
}

impl Memory {
    /// Compares where the machines are with where they were at the last look. The time in between
    /// counts for no more than `longest`: if sysmon was late, the machines may have been kept from
    /// running as well.
    pub(super) fn update(&mut self, scheduler: &Scheduler, longest: Duration, now: Instant) {
        let step = self.looked_at.replace(now).map_or(Duration::ZERO, |at| now.duration_since(at)).min(longest);
        self.time += step;
        std::mem::swap(&mut self.seen, &mut self.before);
        self.seen.clear();
        for (machine, sighting) in scheduler.holders() {
            let before = self.before.iter().find(|seen| Arc::ptr_eq(&seen.machine, &machine));
            self.seen.push(match before.filter(|seen| seen.sighting.is_same_turn(sighting)) {
                Some(before) => before.again(sighting, step, now),
                None => Seen::new(machine, sighting, now),
            });
        }
        self.record_ends(scheduler);
        self.before.clear();
    }

    /// Records the ends of polls that were reported and are over. A poll whose processor was taken
    /// goes on, and its machine records the end.
    fn record_ends(&self, scheduler: &Scheduler) {
        for before in self.before.iter().filter(|before| before.recorded.is_some()) {
            let turn = before.sighting.turn();
            if !before.machine.ownership.is_in_turn(turn) {
                observe::on_end_of_long_poll(scheduler, &before.machine, turn);
            }
        }
    }

    /// Whether a processor has had a turn since the last call of this function.
    pub(super) fn have_turns_passed(&mut self, processors: &Processors) -> bool {
        let turns = processors.iter().fold(0, |sum: u32, processor| sum.wrapping_add(processor.ticks()));
        std::mem::replace(&mut self.all_turns, turns) != turns
    }

    pub(super) fn has_new_section(&self, now: Instant) -> bool {
        let is_new = |seen: &Seen| seen.sighting.region.is_blocking() && now.duration_since(seen.since) < SOON_FOR;
        self.seen.iter().any(is_new)
    }

    /// The time for which a thread had no core does not count.
    pub(super) fn has_poll_of(&self, length: Range<Duration>, now: Instant) -> bool {
        let lasted = |seen: &Seen| now.duration_since(seen.since).saturating_sub(seen.starved - seen.starved_before);
        self.seen.iter().any(|seen| seen.sighting.region == Region::Poll && length.contains(&lasted(seen)))
    }

    /// How many machines have held their processor for at least `length` in one poll.
    pub(super) fn count_held(&self, length: Duration) -> usize {
        self.seen.iter().filter(|seen| seen.held >= length).count()
    }

    /// Lets sysmon ask about another machine first.
    pub(super) fn rotate(&mut self) {
        if !self.seen.is_empty() {
            self.first = (self.first + QUESTIONS) % self.seen.len();
            self.seen.rotate_left(self.first);
        }
    }

    /// How long the machine that got its processor last has held it.
    pub(super) fn shortest_held(&self) -> Duration {
        self.seen.iter().map(|seen| seen.held).min().unwrap_or_default()
    }

    /// Whether a poll or a section has lasted from one look to the next.
    pub(super) fn is_any_stuck(&self) -> bool {
        self.seen.iter().any(|seen| seen.is_again)
    }

    /// sysmon will not look for an unknown time. Sightings from before it say nothing about what
    /// sysmon sees afterwards.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
        self.looked_at = None;
    }
}

impl Seen {
    fn new(machine: Arc<Machine>, sighting: Sighting, since: Instant) -> Seen {
        Seen {
            machine,
            sighting,
            since,
            held: Duration::ZERO,
            used: Duration::ZERO,
            cpu: None,
            is_again: false,
            stands_still: false,
            is_runnable: false,
            starved: Duration::ZERO,
            starved_before: Duration::ZERO,
            perhaps_starved: Duration::ZERO,
            recorded: None,
            is_asleep: false,
        }
    }

    /// The same poll, seen once more.
    fn again(&self, sighting: Sighting, step: Duration, now: Instant) -> Seen {
        let cpu = self.machine.cpu_time();
        let advance = cpu.zip(self.cpu).map(|(now, before)| now.saturating_sub(before));
        let is_same = sighting == self.sighting;
        let stands_still = is_same && advance.is_some_and(|advance| advance.is_zero());
        let counts = [self.sighting.region, sighting.region] == [Region::Poll; 2];
        let without_core = if stands_still && counts { step } else { Duration::ZERO };
        let [starved, perhaps_starved] =
            if self.is_runnable { [without_core, Duration::ZERO] } else { [Duration::ZERO, without_core] };
        let goes_on = self.sighting.region == sighting.region;
        Seen {
            machine: self.machine.clone(),
            sighting,
            since: if goes_on { self.since } else { now },
            starved_before: if goes_on { self.starved_before } else { self.starved },
            held: self.held + if counts { step } else { Duration::ZERO },
            used: self.used + advance.filter(|_| counts).unwrap_or_default(),
            cpu,
            is_again: true,
            stands_still,
            is_runnable: false,
            starved: self.starved + starved,
            perhaps_starved,
            recorded: self.recorded,
            is_asleep: self.is_asleep && is_same,
        }
    }

    /// Judges the machine's thread. `is_waited_for`: something waits for its processor, so sysmon
    /// asks at once whether the thread sleeps.
    pub(super) fn judge(&mut self, is_waited_for: bool, standard: &mut Standard) -> Verdict {
        if self.sighting.region.is_blocking() && self.is_again {
            return Verdict::Stuck(StuckBy::Blocking);
        }
        let is_long = self.sighting.region == Region::Poll && self.held >= standard.threshold;
        if !is_long {
            if standard.questions == 0 || !(is_waited_for || self.stands_still) {
                return Verdict::Fine;
            }
            standard.questions -= 1;
        }
        let state = self.machine.state();
        let was_asleep = std::mem::replace(&mut self.is_asleep, state == Some(ThreadState::Asleep));
        self.is_runnable = state == Some(ThreadState::Runnable);
        if self.is_runnable {
            self.starved += std::mem::take(&mut self.perhaps_starved);
        }
        // The kernel's answer is about this moment only: a thread that waits 5 µs for a lock is asleep,
        // too. In a model a thread that sleeps sleeps on.
        let sleeps_on = was_asleep || self.stands_still || cfg!(loom);
        match state {
            Some(ThreadState::Asleep) if sleeps_on => Verdict::Stuck(StuckBy::Blocking),
            Some(ThreadState::Asleep) => Verdict::Asleep,
            // A thread that is runnable but hardly ever gets a core is held up by the computer. The
            // task is not the cause.
            _ if is_long && self.computes() => Verdict::Stuck(StuckBy::Computing),
            None if is_long => Verdict::Stuck(StuckBy::Blocking),
            Some(_) if is_long && self.is_starved(standard.threshold) => Verdict::Starved,
            _ => Verdict::Fine,
        }
    }

    fn computes(&self) -> bool {
        self.used * 20 > self.held
    }

    /// Most of the time there was no core for the thread, and it has not computed for long.
    fn is_starved(&self, threshold: Duration) -> bool {
        self.starved * 2 >= self.held && self.used < threshold
    }

    /// With a part of a core, sysmon takes the processor, but it may yet turn out that there was no
    /// core for the thread.
    fn is_sure_to_compute(&self, threshold: Duration) -> bool {
        self.used * 2 >= self.held || self.used >= threshold
    }

    /// What the report says of a poll that has lasted for `threshold`. `None`: nothing new, or
    /// nothing that is certain.
    pub(super) fn cause_to_record(&mut self, verdict: &Verdict, threshold: Duration) -> Option<BlockedCause> {
        let cause = match verdict {
            // Declared sections may block.
            _ if self.sighting.region != Region::Poll => return None,
            Verdict::Stuck(StuckBy::Blocking) => BlockedCause::Blocked,
            Verdict::Starved => BlockedCause::Starved,
            Verdict::Stuck(StuckBy::Computing) if self.is_starved(threshold) => BlockedCause::Starved,
            Verdict::Stuck(StuckBy::Computing) if self.is_sure_to_compute(threshold) => BlockedCause::Computing,
            _ => return None,
        };
        let is_news = matches!(self.recorded, None | Some(BlockedCause::Starved)) && self.recorded != Some(cause);
        is_news.then(|| *self.recorded.insert(cause))
    }
}

/// Whether the moment is less than `length` ago.
pub(super) fn is_within(length: Duration, moment: Option<Instant>, now: Instant) -> bool {
    moment.is_some_and(|moment| now.duration_since(moment) < length)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sched::sysmon::CLOSE_FOR;

    /// One machine, in a poll since `begin`.
    fn memory_of_poll(begin: Instant) -> Memory {
        let sighting = Sighting { processor: 0, region: Region::Poll, polls: 0 };
        Memory { seen: vec![Seen::new(Machine::new(0), sighting, begin)], ..Memory::default() }
    }

    /// sysmon would look closely, and machines would wake successors, until the poll ends.
    #[test]
    fn a_poll_that_blocks_for_hours_is_news_only_at_first() {
        let (begin, news) = (Instant::now(), Duration::from_millis(2)..CLOSE_FOR);
        let memory = memory_of_poll(begin);
        let has_news = |after| memory.has_poll_of(news.clone(), begin + Duration::from_millis(after));
        assert_eq!([1, 2, 999, 1_000, 3_600_000].map(has_news), [false, true, true, false, false]);
    }

    /// The computer is crowded. If machines woke successors, it would be more so.
    #[test]
    fn a_poll_that_gets_no_core_is_not_long() {
        let (begin, news) = (Instant::now(), Duration::from_millis(2)..CLOSE_FOR);
        let mut memory = memory_of_poll(begin);
        let mut has_news = |starved| {
            memory.seen[0].starved = Duration::from_millis(starved);
            memory.has_poll_of(news.clone(), begin + Duration::from_millis(6))
        };
        assert_eq!([0, 4, 5, 6].map(&mut has_news), [true, true, false, false]);
    }

    /// What the poll waited for before a section says nothing about the time after the section.
    #[test]
    fn a_poll_that_got_no_core_before_a_section_is_long_after_it() {
        let begin = Instant::now();
        let mut memory = memory_of_poll(begin);
        let ms = Duration::from_millis;
        let go_on = |memory: &mut Memory, region, polls, at| {
            let sighting = Sighting { processor: 0, region, polls };
            memory.seen[0] = memory.seen[0].again(sighting, ms(1), begin + ms(at));
        };
        memory.seen[0].starved = ms(4);
        go_on(&mut memory, Region::Blocking, 1, 6);
        go_on(&mut memory, Region::Poll, 2, 7);
        let has_news = |after| memory.has_poll_of(ms(2)..CLOSE_FOR, begin + ms(after));
        assert_eq!([8, 9].map(has_news), [false, true]);
    }

    #[test]
    fn a_moment_is_within_a_length_until_that_has_passed() {
        let (moment, length) = (Instant::now(), Duration::from_secs(10));
        let is_within = |after| is_within(length, Some(moment), moment + Duration::from_millis(after));
        assert_eq!([0, 9_999, 10_000].map(is_within), [true, true, false]);
        assert!(!super::is_within(length, None, moment));
    }
}
