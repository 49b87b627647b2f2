//! The polls under way that count against `max_hogs` although they hold no permit, and those that
//! hold one and don't count.
//!
//! Takers add a poll whose processor they take while it computes. sysmon adds a poll that computes
//! by now, and removes a poll that sleeps by now. Entries of polls that are over mean nothing, and
//! sysmon's next look removes them. So no machine does anything at the end of such a poll.
//!
//! The limit of the permits is `max_hogs` less the polls that count. It follows the list under the
//! list's lock.
//!
//! Rejected: a permit for each of these polls, released by the side that sees the end. The count was
//! exact, and took two fences, three read-modify-writes and four models.

use crate::sched::state::machine::Machine;
use crate::sched::state::permits::Permits;
use crate::sync::{Arc, Mutex};
use crate::task::Runnable;

pub(crate) struct Computing {
    polls: Mutex<Polls>,
}

struct Polls {
    /// `max_hogs`.
    most: usize,
    list: Vec<Poll>,
}

struct Poll {
    machine: Arc<Machine>,
    turn: u64,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sched) enum Counts {
    /// Its processor was taken while it computed.
    Taken,
    /// sysmon has seen it compute without a processor.
    Later,
    /// It holds a permit and sleeps.
    Asleep,
}

impl Computing {
    pub(crate) fn new(most: usize) -> Computing {
        Computing { polls: Mutex::new(Polls { most, list: Vec::new() }) }
    }

    /// This poll computes: it is about to lose its processor, or sysmon has found that it computes
    /// without one. `false`: it counts already.
    #[must_use]
    pub(in crate::sched) fn computes(&self, machine: &Arc<Machine>, turn: u64, counts: Counts) -> bool {
        let mut polls = self.polls.lock();
        match polls.position(machine, turn) {
            Some(at) if polls.list[at].counts == Counts::Asleep => _ = polls.list.swap_remove(at),
            None if !machine.has_permit(turn) => polls.add(machine, turn, counts),
            _ => return false,
        }
        true
    }

    /// sysmon has found that this poll without a processor sleeps. `false`: it does not count.
    #[must_use]
    pub(in crate::sched) fn sleeps(&self, machine: &Arc<Machine>, turn: u64) -> bool {
        let mut polls = self.polls.lock();
        match polls.position(machine, turn) {
            Some(at) if polls.list[at].counts != Counts::Asleep => _ = polls.list.swap_remove(at),
            None if machine.has_permit(turn) => polls.add(machine, turn, Counts::Asleep),
            _ => return false,
        }
        true
    }

    /// Whether this poll computes, as far as is known.
    pub(in crate::sched) fn is_computing(&self, machine: &Arc<Machine>, turn: u64) -> bool {
        let polls = self.polls.lock();
        match polls.position(machine, turn) {
            Some(at) => polls.list[at].counts != Counts::Asleep,
            None => machine.has_permit(turn),
        }
    }

    /// Removes the polls that are over, and gives `permits` the limit that is left. Returns the hogs
    /// that get permits because of it.
    #[must_use = "the tasks have permits, and no other thread would run them"]
    pub(in crate::sched) fn limit(&self, permits: &Permits) -> Vec<Runnable> {
        let mut polls = self.polls.lock();
        polls.remove_ended();
        permits.set_limit(polls.left())
    }

    /// Changes `max_hogs`. For the rest see [`Computing::limit`].
    #[must_use = "the tasks have permits, and no other thread would run them"]
    pub(in crate::sched) fn set_most(&self, most: usize, permits: &Permits) -> Vec<Runnable> {
        self.polls.lock().most = most;
        self.limit(permits)
    }

    /// How many polls compute without a processor: those of hogs with a permit, and the others.
    pub(crate) fn count(&self, permits: &Permits) -> usize {
        let mut polls = self.polls.lock();
        polls.remove_ended();
        polls.count(permits)
    }

    /// How many of them are beyond `max_hogs`. `let_in`: without those that sysmon has found only
    /// after their processors were taken. sysmon did not let them in.
    pub(in crate::sched) fn excess(&self, permits: &Permits, let_in: bool) -> usize {
        let polls = self.polls.lock();
        let later = polls.list.iter().filter(|poll| poll.counts == Counts::Later).count();
        polls.count(permits).saturating_sub(polls.most + if let_in { later } else { 0 })
    }
}

impl Polls {
    fn add(&mut self, machine: &Arc<Machine>, turn: u64, counts: Counts) {
        self.list.push(Poll { machine: machine.clone(), turn, counts });
    }

    fn position(&self, machine: &Arc<Machine>, turn: u64) -> Option<usize> {
        self.list.iter().position(|poll| poll.turn == turn && Arc::ptr_eq(&poll.machine, machine))
    }

    fn remove_ended(&mut self) {
        self.list.retain(|poll| !poll.is_over());
    }

    /// How many permits may be held.
    fn left(&self) -> usize {
        let [counting, asleep] = self.numbers();
        (self.most + asleep).saturating_sub(counting)
    }

    fn count(&self, permits: &Permits) -> usize {
        let [counting, asleep] = self.numbers();
        (permits.held() + counting).saturating_sub(asleep)
    }

    /// How many polls count without a permit, and how many have one and don't count.
    fn numbers(&self) -> [usize; 2] {
        let asleep = self.list.iter().filter(|poll| poll.counts == Counts::Asleep).count();
        [self.list.len() - asleep, asleep]
    }
}

impl Poll {
    fn is_over(&self) -> bool {
        self.machine.ownership.turn() != self.turn
    }
}
