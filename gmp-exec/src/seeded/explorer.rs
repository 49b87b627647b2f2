//! How choices are drawn from the seed: which orders a seed tries (README.md, "Explorers").

use std::collections::BTreeMap;

use super::random::Random;

/// Time passes at one of so many moments at first, where short programs do all that they do, and at one
/// of so many in the end, because a program that runs for long is not to be late all the time.
const FIRST_MOMENTS: usize = 4;
const MOST_MOMENTS: usize = 64;

#[derive(Debug)]
pub(super) struct Explorer {
    random: Random,
    /// A decision is about so many allocations; 0: threads are not interrupted there.
    pub(super) allocations: usize,
    /// The same of basic blocks.
    pub(super) blocks: usize,
    /// A decision is about so many moments at which time could pass; 0: it does not.
    pub(super) moments: usize,
    priorities: Option<Priorities>,
}

/// In place of chance: what has the highest priority goes on, until it is made the lowest.
#[derive(Debug)]
struct Priorities {
    seed: u64,
    /// Those that were made the lowest, which are below zero.
    lowered: BTreeMap<Id, i64>,
    /// One of so many occasions lowers a priority.
    once_in: usize,
}

/// Of what goes on and waits: threads and tasks have their own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Thread(usize),
    Task(u64),
}

impl Explorer {
    pub(super) fn new(seed: u64) -> Explorer {
        let mut random = Random::new(seed);
        let once_in = 4 << random.below(6);
        let priorities = Priorities { seed, lowered: BTreeMap::new(), once_in };
        let is_interrupted = seed % 2 == 1;
        let allocations = if is_interrupted { 4 << random.below(4) } else { 0 };
        // Of another stream, so that a seed makes the same choices whether or not blocks are told.
        let blocks = if is_interrupted { 16 << (2 * Random::new(!seed).below(4)) } else { 0 };
        let moments = [0, 0, FIRST_MOMENTS, MOST_MOMENTS][seed as usize % 4];
        Explorer { random, allocations, blocks, moments, priorities: (seed % 4 == 3).then_some(priorities) }
    }

    /// Time has passed at a moment. The next one comes later.
    pub(super) fn time_has_passed(&mut self) {
        self.moments = (self.moments + 2).min(MOST_MOMENTS);
    }

    /// Any of `0..count`.
    pub(super) fn any(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    /// Whether something happens that happens once in so many times.
    pub(super) fn happens(&mut self, once_in: usize) -> bool {
        self.random.below(once_in) == 0
    }

    /// The place of the one that goes on.
    pub(super) fn one_of(&mut self, ids: &[Id]) -> usize {
        let Some(priorities) = &mut self.priorities else { return self.random.below(ids.len()) };
        let highest = priorities.highest(ids);
        if self.random.below(priorities.once_in) == 0 {
            priorities.lower(ids[highest]);
        }
        priorities.highest(ids)
    }

    /// At which of so many occasions something happens that seldom does; 0: at none.
    pub(super) fn occasion(&mut self, count: usize) -> usize {
        if self.random.below(2) == 0 { 1 + self.random.below(count) } else { 0 }
    }

    /// The thread or task is interrupted, and others come first.
    pub(super) fn lower(&mut self, id: Id) {
        if let Some(priorities) = &mut self.priorities {
            priorities.lower(id);
        }
    }

    /// Whether this thread or task is interrupted, once in so many times. `others` could go on.
    pub(super) fn interrupts(&mut self, once_in: usize, id: Id, others: &[Id]) -> bool {
        let Some(priorities) = &mut self.priorities else { return self.happens(once_in) };
        let is_lowered = self.random.below(priorities.once_in) == 0;
        if is_lowered {
            priorities.lower(id);
        }
        let own = priorities.of(id);
        is_lowered && others.is_empty() || others.iter().any(|&other| priorities.of(other) > own)
    }
}

impl Priorities {
    fn of(&self, id: Id) -> i64 {
        let first = || {
            let number = match id {
                Id::Thread(number) => number as u64,
                Id::Task(number) => !number,
            };
            (Random::new(self.seed ^ Random::new(number).next()).next() >> 1) as i64
        };
        self.lowered.get(&id).copied().unwrap_or_else(first)
    }

    fn highest(&self, ids: &[Id]) -> usize {
        (0..ids.len()).max_by_key(|&place| self.of(ids[place])).unwrap_or(0)
    }

    fn lower(&mut self, id: Id) {
        let lowest = self.lowered.values().min().map_or(-1, |lowest| lowest - 1);
        self.lowered.insert(id, lowest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [Id; 3] = [Id::Thread(1), Id::Task(1), Id::Task(2)];

    #[test]
    fn a_walk_chooses_each() {
        let mut walk = Explorer::new(1);
        let chosen: Vec<_> = (0..100).map(|_| walk.one_of(&IDS)).collect();
        (0..3).for_each(|place| assert!(chosen.contains(&place)));
    }

    #[test]
    fn the_highest_priority_goes_on_until_it_is_lowered() {
        let firsts: Vec<_> = (0..100).map(|seed| Explorer::new(4 * seed + 3).one_of(&IDS)).collect();
        (0..3).for_each(|place| assert!(firsts.contains(&place), "any has the highest in some seed"));
        let mut explorer = Explorer::new(3);
        let chosen: Vec<_> = (0..1000).map(|_| explorer.one_of(&IDS)).collect();
        let changes = chosen.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!((1..400).contains(&changes), "{changes}");
        (0..3).for_each(|place| assert!(chosen.contains(&place), "none is left behind for ever"));
        let first = explorer.one_of(&IDS);
        let others: Vec<_> = IDS.into_iter().filter(|&id| id != IDS[first]).collect();
        while !explorer.interrupts(4, IDS[first], &others) {}
    }
}
