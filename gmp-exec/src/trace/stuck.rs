//! Polls that hold their threads, for `on-take`: the thread "gmp-trace" waits until such a poll has
//! lasted for as long as the setting says.
//!
//! The report thread tells of a poll soon after sysmon has found it, and a machine tells of a known
//! hog before it polls that. Either may tell of a poll twice, and the first one counts.

use std::time::{Duration, Instant};

use crate::sched::state::machine::Machine;
use crate::sync::Arc;

/// A poll that holds its thread.
#[derive(Clone, Debug)]
pub(crate) struct StuckPoll {
    pub(crate) machine: Arc<Machine>,
    pub(crate) turn: u64,
    pub(crate) task: u64,
    pub(crate) since: Instant,
}

#[derive(Debug)]
pub(super) struct StuckPolls {
    /// How long a poll may last.
    limit: Duration,
    polls: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    poll: StuckPoll,
    is_reported: bool,
}

impl StuckPoll {
    fn is_under_way(&self) -> bool {
        self.machine.ownership.is_in_turn(self.turn)
    }

    fn is(&self, other: &StuckPoll) -> bool {
        Arc::ptr_eq(&self.machine, &other.machine) && self.turn == other.turn
    }
}

impl StuckPolls {
    pub(super) fn new(limit: Duration) -> StuckPolls {
        StuckPolls { limit, polls: Vec::new() }
    }

    pub(super) fn add(&mut self, poll: StuckPoll) {
        let is_known = self.polls.iter().any(|known| known.poll.is(&poll));
        // A known hog is told of before its poll begins, so a turn that has not come yet stays.
        self.polls.retain(|known| known.poll.is_under_way() || known.poll.machine.ownership.turn() < known.poll.turn);
        if !is_known {
            self.polls.push(Known { poll, is_reported: false });
        }
    }

    /// When to look next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.polls.iter().filter(|known| !known.is_reported).map(|known| known.poll.since + self.limit).min()
    }

    /// The polls that have lasted for long enough by now, each once.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<StuckPoll> {
        let limit = self.limit;
        let mut due = Vec::new();
        for known in self.polls.iter_mut().filter(|known| !known.is_reported && known.poll.since + limit <= now) {
            known.is_reported = true;
            due.push(known.poll.clone());
        }
        due.retain(StuckPoll::is_under_way);
        due
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sched::state::machine::ownership::Region;

    const LIMIT: Duration = Duration::from_millis(50);

    fn begin(machine: &Arc<Machine>, since: Instant) -> StuckPoll {
        machine.ownership.begin(Region::Poll);
        StuckPoll { machine: machine.clone(), turn: machine.ownership.turn(), task: 7, since }
    }

    fn is_over(machine: &Machine) {
        let _ = machine.ownership.enter();
    }

    #[test]
    fn a_poll_is_due_once_when_it_has_lasted_for_so_long() {
        let (mut polls, machine, start) = (StuckPolls::new(LIMIT), Machine::new(1), Instant::now());
        let poll = begin(&machine, start);
        polls.add(poll.clone());
        assert_eq!(polls.next(), Some(start + LIMIT));
        assert!(polls.take_due(start + LIMIT - Duration::from_nanos(1)).is_empty());
        assert_eq!(polls.take_due(start + LIMIT).len(), 1);
        polls.add(StuckPoll { since: start + LIMIT, ..poll });
        assert_eq!((polls.next(), polls.take_due(start + LIMIT * 3).len()), (None, 0));
    }

    #[test]
    fn a_poll_that_is_over_is_forgotten() {
        let (mut polls, machine, start) = (StuckPolls::new(LIMIT), Machine::new(1), Instant::now());
        polls.add(begin(&machine, start));
        is_over(&machine);
        assert!(polls.take_due(start + LIMIT).is_empty());
        polls.add(begin(&machine, start));
        assert_eq!((polls.polls.len(), polls.take_due(start + LIMIT).len()), (1, 1));
    }

    #[test]
    fn a_hog_is_told_of_before_its_poll_begins() {
        let (mut polls, machine, start) = (StuckPolls::new(LIMIT), Machine::new(1), Instant::now());
        let turn = machine.ownership.next_turn();
        polls.add(StuckPoll { machine: machine.clone(), turn, task: 7, since: start });
        polls.add(begin(&Machine::new(2), start));
        machine.ownership.begin(Region::Poll);
        assert_eq!(polls.take_due(start + LIMIT).len(), 2);
    }
}
