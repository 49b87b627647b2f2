//! The one source of decisions: each is drawn from the seed, counted, and added to a hash.
//!
//! Events, which follow from the decisions if nothing from outside gets in, are added to the same
//! hash. So two runs of a seed whose hashes agree were the same run.

use std::collections::VecDeque;
use std::panic::Location;

use super::explorer::{Explorer, Id};
use super::random::Random;
use super::real;

/// What a decision is about, as the log calls it. The first choice (0) is always the one that
/// changes least: what is first in order, no yield, no delay.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Which task runs next.
    Task,
    /// The order of what is due at the same moment.
    Timer,
    /// Whether a future yields that needn't.
    Yield,
    /// Whether a thread that could go on lets others go first.
    Switch,
    /// Which thread goes on.
    Thread,
    /// Which of the threads that wait for the same lock or condition is woken.
    Wake,
    /// How much time passes that need not.
    Late,
    /// At which of the next allocations another thread goes on; 0: at none.
    Edge,
    /// What the network does (network/README.md, "Weather").
    Net,
    /// At which of the next basic blocks another thread goes on; 0: at none.
    Block,
    /// What the program leaves to the seed (`gmp_sim::choose`).
    Program,
}

impl Kind {
    pub(super) const ALL: [Kind; 11] = [
        Kind::Task,
        Kind::Timer,
        Kind::Yield,
        Kind::Switch,
        Kind::Thread,
        Kind::Wake,
        Kind::Late,
        Kind::Edge,
        Kind::Net,
        Kind::Block,
        Kind::Program,
    ];

    pub(super) fn bit(self) -> u64 {
        1 << self as u64
    }

    /// In small letters, as in `GMP_SEED_KINDS`.
    pub(super) fn name(self) -> String {
        format!("{self:?}").to_ascii_lowercase()
    }

    pub(super) fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }
}

/// Choices to make again, in place of drawing them: those of each kind in their order. So a choice that is
/// taken out changes the meaning of others of its kind alone.
#[derive(Debug, Default)]
pub(super) struct Replay([VecDeque<usize>; Kind::ALL.len()]);

impl Replay {
    pub(super) fn add(&mut self, kind: Kind, choice: usize) {
        self.0[kind as usize].push_back(choice);
    }

    /// All choices after the last one are 0.
    fn next(&mut self, kind: Kind) -> usize {
        self.0[kind as usize].pop_front().unwrap_or(0)
    }
}

/// When something happens next that seldom does.
#[derive(Debug, Default)]
pub(super) struct Next {
    /// So many occasions are decided.
    left: usize,
    /// The next of them at which the thing happens, from 1; 0: none.
    until: usize,
}

#[derive(Debug)]
pub(super) struct Decisions {
    pub(super) explorer: Explorer,
    /// Random bytes that the program asks for. Apart, so that a program that asks for more bytes makes
    /// no other decisions.
    data: Random,
    pub(super) count: u64,
    pub(super) hash: u64,
    /// The kinds that are drawn, by their bits. All others are 0.
    kinds: u64,
    replay: Option<Replay>,
    /// A descriptor that gets a line for each decision and event.
    log: Option<i32>,
}

impl Decisions {
    pub(super) fn new(seed: u64, kinds: u64, replay: Option<Replay>, log: Option<i32>) -> Decisions {
        let (explorer, data) = (Explorer::new(seed), Random::new(!seed));
        Decisions { explorer, data, count: 0, hash: FNV_OFFSET, kinds, replay, log }
    }

    /// One of `0..count`. What has one choice only is no decision.
    pub(super) fn decide(&mut self, kind: Kind, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let drawn = self.explorer.any(count);
        self.choose(kind, count, drawn)
    }

    /// The place of the one that goes on.
    pub(super) fn one_of(&mut self, kind: Kind, ids: &[Id]) -> usize {
        if ids.len() <= 1 {
            return 0;
        }
        let drawn = self.explorer.one_of(ids);
        self.choose(kind, ids.len(), drawn)
    }

    /// Whether something happens that happens once in so many times.
    pub(super) fn happens(&mut self, kind: Kind, once_in: usize) -> bool {
        let drawn = usize::from(self.explorer.happens(once_in));
        self.choose(kind, 2, drawn) == 1
    }

    /// 0, or one of so many ways in which something happens that does so at this rate, in millionths.
    pub(super) fn happens_in(&mut self, kind: Kind, rate: u32, ways: usize) -> usize {
        if rate == 0 || ways == 0 {
            return 0;
        }
        let happens = self.explorer.any(1_000_000) < rate as usize;
        let drawn = if happens { 1 + self.explorer.any(ways) } else { 0 };
        self.choose(kind, ways + 1, drawn)
    }

    /// Whether something that seldom happens does so at this occasion. A decision is about `count`
    /// occasions at once.
    pub(super) fn happens_seldom(&mut self, kind: Kind, next: &mut Next, count: usize) -> bool {
        if count == 0 {
            return false;
        }
        if next.left == 0 {
            let drawn = self.explorer.occasion(count);
            *next = Next { left: count, until: self.choose(kind, count + 1, drawn) };
        }
        let happens = next.until == 1;
        *next = Next { left: next.left - 1, until: next.until.saturating_sub(1) };
        happens
    }

    /// The thread is interrupted at an edge.
    pub(super) fn lower(&mut self, id: Id) {
        self.explorer.lower(id);
    }

    /// Whether this thread or task is interrupted, once in so many times. `others` could go on.
    pub(super) fn interrupts(&mut self, kind: Kind, once_in: usize, id: Id, others: &[Id]) -> bool {
        let drawn = usize::from(self.explorer.interrupts(once_in, id, others));
        self.choose(kind, 2, drawn) == 1
    }

    /// The choice is the one drawn, or that of the file which is run again.
    fn choose(&mut self, kind: Kind, count: usize, drawn: usize) -> usize {
        let drawn = if self.kinds & kind.bit() == 0 { 0 } else { drawn };
        let choice = self.replay.as_mut().map_or(drawn, |replay| replay.next(kind) % count);
        self.count += 1;
        self.add(kind as u64 | (count as u64) << 8 | (choice as u64) << 36);
        if let Some(log) = self.log {
            write_line(log, format_args!("{choice} of {count} {kind:?}, decision {}\n", self.count));
        }
        choice
    }

    /// Something has happened, to the thread with that number or at that moment.
    pub(super) fn event(&mut self, what: &str, number: u64) {
        what.bytes().for_each(|byte| self.add(byte.into()));
        self.add(number);
        if let Some(log) = self.log {
            write_line(log, format_args!("  {what} {number}\n"));
        }
    }

    /// A task is polled next.
    pub(super) fn task(&mut self, number: u64, spawned_at: &Location<'_>) {
        self.event("task", number);
        if let Some(log) = self.log {
            write_line(log, format_args!("  spawned at {spawned_at}\n"));
        }
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        self.data.fill(bytes);
    }

    /// FNV-1a, by words in place of bytes.
    fn add(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(FNV_PRIME).rotate_left(23);
    }
}

fn write_line(log: i32, line: std::fmt::Arguments<'_>) {
    real::write_all(log, line.to_string().as_bytes());
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(seed: u64) -> (Vec<usize>, u64) {
        let mut decisions = Decisions::new(seed, u64::MAX, None, None);
        let choices = (0..100).map(|_| decisions.decide(Kind::Task, 3)).collect();
        (choices, decisions.hash)
    }

    #[test]
    fn a_seed_gives_the_same_choices_and_another_seed_others() {
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1).0, choices(2).0);
        (0..3).for_each(|choice| assert!(choices(7).0.contains(&choice)));
    }

    #[test]
    fn the_hash_differs_if_one_event_does() {
        let hash = |number| {
            let mut decisions = Decisions::new(1, u64::MAX, None, None);
            decisions.event("thread", number);
            decisions.hash
        };
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }

    #[test]
    fn random_bytes_do_not_change_the_decisions() {
        let mut decisions = Decisions::new(1, u64::MAX, None, None);
        decisions.fill(&mut [0; 13]);
        assert_eq!((0..100).map(|_| decisions.decide(Kind::Task, 3)).collect::<Vec<_>>(), choices(1).0);
    }
}
