//! Whole polls. A poll that goes on without its processor is two slices of the file.

use std::collections::{HashMap, HashSet};

use super::file::{Instant, Slice, Trace};

/// Two polls that end within this time of each other, in nanoseconds, end together.
const TOGETHER: u64 = 1_000_000;
/// A poll that has ended sooner than this explains no wait.
const LONG: u64 = 1_000_000;

/// A poll, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poll<'a> {
    /// Where it began.
    pub(super) first: &'a Slice,
    pub(super) length: u64,
    /// How much of it was without a processor.
    pub(super) without: u64,
    /// Its thread was seen asleep, or lost its processor because it slept.
    has_slept: bool,
}

impl Poll<'_> {
    pub(super) fn end(&self) -> u64 {
        self.first.begin + self.length
    }
}

/// All polls, in the order of their beginnings on each track.
pub(super) fn polls(trace: &Trace) -> Vec<Poll<'_>> {
    let (on, without): (Vec<&Slice>, Vec<&Slice>) =
        trace.slices.iter().filter(|slice| slice.is_poll || slice.is_local).partition(|poll| poll.is_on_processor());
    // A poll goes on at the moment at which it loses its processor.
    let mut rests: HashMap<_, &Slice> = without.into_iter().map(|rest| ((rest.task, rest.begin), rest)).collect();
    let sleepers = sleepers(trace);
    let has_slept =
        |sight: &Slice| sight.asleep_in.is_some() || sleepers.contains(&(sight.track.as_str(), sight.begin));
    let mut polls = Vec::new();
    for first in on {
        let rest = if first.goes_on { rests.remove(&(first.task, first.end)) } else { None };
        let without = rest.map_or(0, Slice::length);
        let (length, sight) = (first.length() + without, rest.unwrap_or(first));
        polls.push(Poll { first, length, without, has_slept: has_slept(sight) });
    }
    let hogs = rests.into_values();
    polls.extend(hogs.map(|first| {
        let length = first.length();
        Poll { first, length, without: length, has_slept: has_slept(first) }
    }));
    polls.sort_by_key(|poll| (poll.first.track.len(), &poll.first.track, poll.first.begin));
    polls
}

/// The tracks and the beginnings of what went on after the processor of a thread that slept was
/// taken.
fn sleepers(trace: &Trace) -> HashSet<(&str, u64)> {
    let takes = trace.instants.iter().filter(|instant| instant.name.ends_with(" taken: the thread sleeps"));
    let rest_of = |take: &Instant| {
        let is_rest = |slice: &&Slice| slice.track == take.track && slice.is_poll && slice.begin >= take.at;
        trace.slices.iter().find(is_rest).map(|rest| (rest.track.as_str(), rest.begin))
    };
    takes.filter_map(rest_of).collect()
}

/// Polls of one place that slept and ended together, as those do that wait for the same lock.
#[derive(Debug)]
pub(super) struct Crowd<'a> {
    /// In the order of their ends.
    pub(super) polls: Vec<Poll<'a>>,
    /// The longest poll that was awake and ended together with them: perhaps it held the lock.
    pub(super) beside: Option<Poll<'a>>,
}

/// In the order of time.
pub(super) fn crowds<'a>(polls: &[Poll<'a>]) -> Vec<Crowd<'a>> {
    let (mut asleep, awake): (Vec<Poll<'a>>, Vec<Poll<'a>>) = polls.iter().partition(|poll| poll.has_slept);
    asleep.retain(|poll| poll.length >= LONG);
    asleep.sort_by_key(|poll| (&poll.first.name, poll.end()));
    let is_one = |a: &Poll<'_>, b: &Poll<'_>| a.first.name == b.first.name && b.end() - a.end() <= TOGETHER;
    let groups = asleep.chunk_by(is_one).filter(|polls| polls.len() > 1);
    let mut crowds: Vec<Crowd<'a>> =
        groups.map(|polls| Crowd { polls: polls.to_vec(), beside: beside(polls, &awake) }).collect();
    crowds.sort_by_key(|crowd| crowd.polls[0].end());
    crowds
}

fn beside<'a>(crowd: &[Poll<'_>], awake: &[Poll<'a>]) -> Option<Poll<'a>> {
    let first = crowd[0].end().saturating_sub(TOGETHER);
    let last = crowd[crowd.len() - 1].end() + TOGETHER;
    let ends_with = |poll: &&Poll<'_>| poll.length >= LONG && (first..=last).contains(&poll.end());
    awake.iter().filter(ends_with).max_by_key(|poll| poll.length).copied()
}
