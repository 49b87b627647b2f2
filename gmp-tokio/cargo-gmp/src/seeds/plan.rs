//! Which run is next: kept seeds first, then seed after seed, each for all tests.

use std::collections::VecDeque;
use std::time::Instant;

/// A run to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) test: usize,
    pub(super) seed: u64,
    /// The how manieth of the seeds, from 1. `None`: the seed was kept.
    pub(super) number: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Plan {
    kept: VecDeque<(usize, u64)>,
    /// Whether kept seeds have been tried, and it is the turn of others.
    tries_others: bool,
    first: u64,
    /// How many seeds. `None`: the time decides.
    seeds: Option<u64>,
    deadline: Option<Instant>,
    round: u64,
    test: usize,
    /// Which tests need no more runs.
    is_done: Vec<bool>,
    is_over: bool,
}

impl Plan {
    pub(super) fn new(
        kept: Vec<(usize, u64)>,
        tests: usize,
        first: u64,
        seeds: Option<u64>,
        deadline: Option<Instant>,
    ) -> Self {
        let is_done = vec![false; tests];
        Plan {
            kept: kept.into(),
            tries_others: false,
            first,
            seeds,
            deadline,
            round: 0,
            test: 0,
            is_done,
            is_over: false,
        }
    }

    /// All kept seeds have been tried.
    pub(super) fn begin_others(&mut self) {
        self.tries_others = true;
    }

    /// `None`: there are no more.
    pub(super) fn next(&mut self) -> Option<Job> {
        if self.is_over {
            return None;
        }
        if self.tries_others { self.next_of_others() } else { self.next_kept() }
    }

    fn next_kept(&mut self) -> Option<Job> {
        if self.is_late() {
            return None;
        }
        let is_done = &self.is_done;
        let mut left = std::iter::from_fn(|| self.kept.pop_front());
        let (test, seed) = left.find(|(test, _)| !is_done[*test])?;
        Some(Job { test, seed, number: None })
    }

    fn next_of_others(&mut self) -> Option<Job> {
        while self.is_done.contains(&false) {
            if self.test == self.is_done.len() {
                (self.test, self.round) = (0, self.round + 1);
            }
            if self.is_late() || self.seeds.is_some_and(|seeds| self.round >= seeds) {
                return None;
            }
            let test = self.test;
            self.test += 1;
            if !self.is_done[test] {
                return Some(Job { test, seed: self.first.wrapping_add(self.round), number: Some(self.round + 1) });
            }
        }
        None
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The test needs no more runs.
    pub(super) fn finish(&mut self, test: usize) {
        self.is_done[test] = true;
    }

    /// Nothing needs more runs.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// How many runs are left at most, if that is known.
    pub(super) fn left(&self) -> Option<u64> {
        let tests = self.is_done.iter().filter(|done| !**done).count() as u64;
        let rounds = self.seeds?.saturating_sub(self.round);
        Some(if self.is_over { 0 } else { self.kept.len() as u64 + rounds * tests })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut plan: Plan, finish: impl Fn(&Job) -> bool) -> Vec<(usize, u64)> {
        let mut jobs = Vec::new();
        for _ in 0..2 {
            while let Some(job) = plan.next() {
                jobs.push((job.test, job.seed));
                if finish(&job) {
                    plan.finish(job.test);
                }
            }
            plan.begin_others();
        }
        jobs
    }

    #[test]
    fn kept_seeds_come_first_and_then_all_tests_under_each_seed() {
        let plan = || Plan::new(vec![(1, 7)], 2, 0xa, Some(2), None);
        assert_eq!(all(plan(), |_| false), [(1, 7), (0, 0xa), (1, 0xa), (0, 0xb), (1, 0xb)]);
        assert_eq!(all(plan(), |job| job.test == 1), [(1, 7), (0, 0xa), (0, 0xb)]);
        assert_eq!(all(plan(), |_| true), [(1, 7), (0, 0xa)]);
        assert_eq!(plan().left(), Some(5));
    }

    #[test]
    fn the_time_and_the_end_are_the_end() {
        let now = Some(Instant::now());
        assert_eq!(all(Plan::new(vec![(0, 7)], 1, 0, None, now), |_| false), []);
        let mut plan = Plan::new(Vec::new(), 1, u64::MAX, None, None);
        plan.begin_others();
        assert_eq!((plan.next().unwrap().seed, plan.next().unwrap().seed), (u64::MAX, 0));
        plan.end();
        assert_eq!(plan.next(), None);
    }
}
