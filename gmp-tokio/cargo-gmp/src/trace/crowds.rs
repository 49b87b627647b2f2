//! Polls of one place that slept and ended together, as those do that wait for the same lock.

use super::polls::Poll;

/// Two polls that end within this time of each other, in nanoseconds, end together.
const TOGETHER: u64 = 1_000_000;
/// A poll that has ended sooner than this explains no wait.
pub(super) const LONG: u64 = 1_000_000;

#[derive(Debug)]
pub(super) struct Crowd {
    /// In the order of their ends.
    pub(super) polls: Vec<Poll>,
    /// The longest poll that was awake and ended together with them: perhaps it held the lock.
    pub(super) beside: Option<Poll>,
}

/// Of polls that are [`LONG`], in the order of time.
pub(super) fn crowds(polls: &[Poll]) -> Vec<Crowd> {
    let mut asleep: Vec<&Poll> = polls.iter().filter(|poll| poll.has_slept).collect();
    asleep.sort_by_key(|poll| (poll.name, poll.end.at));
    let mut awake: Vec<&Poll> = polls.iter().filter(|poll| !poll.has_slept).collect();
    awake.sort_by_key(|poll| poll.end.at);
    let is_one = |a: &&Poll, b: &&Poll| a.name == b.name && b.end.at - a.end.at <= TOGETHER;
    let groups = asleep.chunk_by(is_one).filter(|polls| polls.len() > 1);
    let crowd =
        |polls: &[&Poll]| Crowd { polls: polls.iter().map(|poll| **poll).collect(), beside: beside(polls, &awake) };
    let mut crowds: Vec<Crowd> = groups.map(crowd).collect();
    crowds.sort_by_key(|crowd| crowd.polls[0].end.at);
    crowds
}

/// `awake`: in the order of their ends.
fn beside(crowd: &[&Poll], awake: &[&Poll]) -> Option<Poll> {
    let first = crowd[0].end.at.saturating_sub(TOGETHER);
    let last = crowd[crowd.len() - 1].end.at + TOGETHER;
    let from = awake.partition_point(|poll| poll.end.at < first);
    let with = awake[from..].iter().take_while(|poll| poll.end.at <= last);
    with.max_by_key(|poll| poll.length()).map(|poll| **poll)
}
