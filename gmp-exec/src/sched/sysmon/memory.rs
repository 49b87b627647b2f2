//! What sysmon remembers between two looks.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::state::processors::Processors;
use crate::sched::sysmon::long_polls::LongPolls;
use crate::sched::sysmon::pace::Pace;
use crate::sched::sysmon::seen::Seen;
use crate::sync::Arc;

/// About how many threads that may sleep sysmon asks the kernel in one look: each question takes 4
/// to 8 µs. With more processors, sysmon asks about other threads in the next look.
pub(super) const QUESTIONS: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(super) seen: Vec<Seen>,
    /// The index in `seen` of the first machine that sysmon asked about.
    first: usize,
    pub(super) looked_at: Option<Instant>,
    /// The sum of all processors' counts of turns.
    all_turns: u32,
    pub(super) long_polls: LongPolls,
    /// A machine or a submitter has called for the next look, or sysmon itself has: work waits that no
    /// submitter has called for, or a timer comes due then.
    pub(super) was_called: bool,
    /// When sysmon looked, something waited and no processor was idle.
    pub(super) is_anything_waiting: bool,
    pub(super) pace: Pace,
    /// When `excess` last let polls in, or since when one has waited for that; `None`: none waits.
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
        before.iter().for_each(|seen| seen.record_end(scheduler));
    }

    /// Whether a processor has had a turn since the last call of this function.
    pub(super) fn have_turns_passed(&mut self, processors: &Processors) -> bool {
        let turns = processors.iter().fold(0, |sum: u32, processor| sum.wrapping_add(processor.ticks()));
        std::mem::replace(&mut self.all_turns, turns) != turns
    }

    /// Whether a poll or a section has lasted from one look to the next.
    pub(super) fn is_any_stuck(&self) -> bool {
        self.seen.iter().any(|seen| seen.is_again)
    }

    /// Lets sysmon ask about another machine first.
    pub(super) fn rotate(&mut self) {
        if !self.seen.is_empty() {
            self.first = (self.first + QUESTIONS) % self.seen.len();
            self.seen.rotate_left(self.first);
        }
    }
}
