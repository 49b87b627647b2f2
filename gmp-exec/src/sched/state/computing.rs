//! The polls under way that count against `max_hogs` although they hold no permit, and those that
//! hold one and don't count.
//!
//! Takers add a poll whose processor they take while it computes. sysmon adds a poll that computes
//! by now, and removes a poll that sleeps by now. Entries of polls that are over mean nothing, and
//! sysmon's next look removes them. So no machine does anything at the end of such a poll.
//!
//! `Permits::counted` follows the list, under the list's lock.
//!
//! Rejected: a permit for each of these polls, released by the side that sees the end. The count was
//! exact, and took two fences, three read-modify-writes and four models.

use crate::sched::state::machine::Machine;
use crate::sched::state::permits::Permits;
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::task::Runnable;

#[derive(Debug, Default)]
pub(crate) struct Computing {
    polls: Mutex<Vec<Poll>>,
}

#[derive(Debug)]
struct Poll {
    machine: Arc<Machine>,
    turn: u64,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// Its processor was taken while it computed.
    Taken,
    /// sysmon has seen it compute without a processor.
    Later,
    /// It holds a permit and sleeps.
    Asleep,
}

impl Computing {
    /// A processor was taken from a poll that computes.
    pub(in crate::sched) fn add_taken(&self, machine: &Arc<Machine>, turn: u64, permits: &Permits) {
        let mut polls = self.polls.lock();
        if !machine.absence.has_permit(turn) && position(&polls, machine, turn).is_none() {
            polls.push(Poll { machine: machine.clone(), turn, counts: Counts::Taken });
            permits.count_more();
        }
    }

    /// sysmon has found that this poll without a processor computes. `false`: it counts already.
    #[must_use]
    pub(in crate::sched) fn computes(&self, machine: &Arc<Machine>, turn: u64) -> bool {
        let mut polls = self.polls.lock();
        match position(&polls, machine, turn) {
            Some(at) if polls[at].counts == Counts::Asleep => _ = polls.swap_remove(at),
            None if !machine.absence.has_permit(turn) => {
                polls.push(Poll { machine: machine.clone(), turn, counts: Counts::Later });
            }
            _ => return false,
        }
        true
    }

    /// sysmon has found that this poll without a processor sleeps. `false`: it does not count.
    #[must_use]
    pub(in crate::sched) fn sleeps(&self, machine: &Arc<Machine>, turn: u64) -> bool {
        let mut polls = self.polls.lock();
        match position(&polls, machine, turn) {
            Some(at) if polls[at].counts != Counts::Asleep => _ = polls.swap_remove(at),
            None if machine.absence.has_permit(turn) => {
                polls.push(Poll { machine: machine.clone(), turn, counts: Counts::Asleep });
            }
            _ => return false,
        }
        true
    }

    /// Whether this poll computes, as far as is known.
    pub(in crate::sched) fn is_computing(&self, machine: &Arc<Machine>, turn: u64) -> bool {
        let polls = self.polls.lock();
        match position(&polls, machine, turn) {
            Some(at) => polls[at].counts != Counts::Asleep,
            None => machine.absence.has_permit(turn),
        }
    }

    /// Removes the polls that are over. Returns the hogs that get permits because of it.
    #[must_use = "the tasks have permits, and no other thread would run them"]
    pub(in crate::sched) fn recount(&self, permits: &Permits) -> Vec<Runnable> {
        let polls = self.under_way();
        permits.set_counted(sum(&polls))
    }

    /// How many polls count now, beside those that hold permits: may be negative.
    pub(crate) fn count(&self) -> i64 {
        sum(&self.under_way())
    }

    /// How many of them sysmon has found only after their processors were taken.
    pub(in crate::sched) fn later(&self) -> usize {
        self.polls.lock().iter().filter(|poll| poll.counts == Counts::Later).count()
    }

    fn under_way(&self) -> MutexGuard<'_, Vec<Poll>> {
        let mut polls = self.polls.lock();
        polls.retain(|poll| !poll.is_over());
        polls
    }
}

impl Poll {
    fn is_over(&self) -> bool {
        self.machine.absence.has_ended(self.turn) || self.machine.ownership.turn() != self.turn
    }
}

fn position(polls: &[Poll], machine: &Arc<Machine>, turn: u64) -> Option<usize> {
    polls.iter().position(|poll| poll.turn == turn && Arc::ptr_eq(&poll.machine, machine))
}

fn sum(polls: &[Poll]) -> i64 {
    polls.iter().map(|poll| if poll.counts == Counts::Asleep { -1 } else { 1 }).sum()
}
