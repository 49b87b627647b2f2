//! What sysmon has seen: which machine is in which poll, since when, and whether it computes there.
//!
//! A poll is told by its number and not by samples of the clock, so any number of short polls is never taken for a long one.

use super::sleepers::Holder;
use super::{ALERT, HURRY, HURRY_FOR};
use crate::sched::machine::Machine;
use crate::sched::ownership::{Region, Sighting};
use crate::sched::scheduler::Scheduler;
use crate::sync::Arc;
use crate::task::Offence;
use std::time::{Duration, Instant};

/// What the monitor remembers between two looks.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Room for a list, empty between the looks.
    pub(super) machines: Vec<Arc<Machine>>,
    pub(super) seen: Vec<Seen>,
    spare: Vec<Seen>,
    pub(super) idle_looks: u32,
    pub(super) alert_until: Option<Instant>,
    pub(super) holders: Vec<Holder>,
}

#[derive(Debug)]
pub(super) struct Seen {
    pub(super) machine: Arc<Machine>,
    pub(super) sighting: Sighting,
    pub(super) since: Instant,
    /// The thread's CPU clock when this poll was seen for the second time.
    second: Option<Reading>,
}

/// A look at the CPU clock of a machine's thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// `None`: there is no such clock.
    cpu: Option<Duration>,
    pub(super) at: Instant,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    /// Its processor may be taken.
    Stuck(Offence),
}

impl Memory {
    /// Compares where the machines are with where they were at the last look.
    pub(super) fn update(&mut self, scheduler: &Scheduler, now: Instant) {
        scheduler.roster.copy_into(&mut self.machines);
        std::mem::swap(&mut self.seen, &mut self.spare);
        self.seen.clear();
        for machine in self.machines.drain(..) {
            let Some(sighting) = machine.ownership.look() else { continue };
            let before = self.spare.iter_mut().find(|seen| Arc::ptr_eq(&seen.machine, &machine));
            self.seen.push(match before {
                Some(seen) if seen.sighting == sighting => seen.again(now),
                _ => Seen { machine, sighting, since: now, second: None },
            });
        }
        self.spare.clear();
    }

    fn has_new_section(&self, now: Instant) -> bool {
        let is_new = |seen: &Seen| seen.sighting.region.is_blocking() && now.duration_since(seen.since) < HURRY_FOR;
        self.seen.iter().any(is_new)
    }

    /// How soon to look because of what was seen.
    pub(super) fn pace(&self, now: Instant) -> Duration {
        if self.has_new_section(now) {
            HURRY
        } else if self.alert_until.is_some_and(|until| now < until) {
            ALERT
        } else {
            Duration::MAX
        }
    }

    pub(super) fn has_poll_of(&self, length: Duration, now: Instant) -> bool {
        self.seen.iter().any(|seen| seen.sighting.region == Region::Poll && now.duration_since(seen.since) >= length)
    }

    pub(super) fn is_anybody_stuck(&self) -> bool {
        self.seen.iter().any(|seen| seen.second.is_some())
    }
}

impl Seen {
    /// The same poll, seen once more.
    fn again(&self, now: Instant) -> Seen {
        let second = self.second.or_else(|| Some(Reading::of(&self.machine, now)));
        Seen { machine: self.machine.clone(), sighting: self.sighting, since: self.since, second }
    }

    pub(super) fn judge(&self, scheduler: &Scheduler, now: Instant) -> Verdict {
        let elapsed = now.duration_since(self.since);
        match self.sighting.region {
            // A declared section's processor goes at the second look.
            Region::Blocking | Region::Offered if !elapsed.is_zero() => Verdict::Stuck(Offence::Blocked),
            Region::Poll if elapsed >= scheduler.config.blocking_threshold => Verdict::Stuck(self.offence(now)),
            _ => Verdict::Fine,
        }
    }

    fn offence(&self, now: Instant) -> Offence {
        self.second.map_or(Offence::Blocked, |second| second.offence(&self.machine, now))
    }
}

impl Reading {
    pub(super) fn of(machine: &Machine, now: Instant) -> Reading {
        Reading { cpu: machine.cpu_time(), at: now }
    }

    /// What the thread has done since. A sleeping thread's CPU clock stands still; a starved one's advances by a few per cent
    /// at least.
    pub(super) fn offence(self, machine: &Machine, now: Instant) -> Offence {
        let (Some(before), Some(cpu)) = (self.cpu, machine.cpu_time()) else { return Offence::Blocked };
        let used = cpu.saturating_sub(before);
        if used * 20 > now.duration_since(self.at) { Offence::Burning } else { Offence::Blocked }
    }
}
