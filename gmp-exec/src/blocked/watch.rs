//! Watching the thread that drives a current-thread runtime, which has no sysmon.
//!
//! Nothing is taken from that thread, and being watched costs it nothing while it polls: the report
//! thread reads the region and the turn that every machine publishes. While the thread sleeps for
//! lack of work, the report thread sleeps, too:
//!
//! | watched thread | report thread |
//! |---|---|
//! | wakes up: `is_parked` = false | `is_listening` = true |
//! | SeqCst fence | SeqCst fence |
//! | `is_listening`? call | `is_parked`? sleep |
//!
//! One fence is first: the watched thread sees that the report thread listens, or the report thread
//! sees that the watched thread is awake. To avoid a call at each wake-up, the report thread sleeps
//! only after a few looks in a row that have found the thread parked.

use std::time::{Duration, Instant};

use super::BlockedCause;
use super::record::{Begun, Ended, Record};
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Region, Sighting};
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Arc, Mutex};
use crate::sys::thread_state::{RunnableTime, ThreadState};
use crate::task::name_of;

/// Looks per threshold.
const LOOKS: u32 = 4;
/// Looks are no closer than this, whatever the threshold.
const SHORTEST: Duration = Duration::from_micros(500);
/// After so many looks that find the thread parked, the report thread sleeps.
const IDLE_LOOKS: u32 = 3;

/// What the watched thread says of itself.
#[derive(Debug)]
pub(super) struct Watch {
    threshold: Duration,
    /// `None`: no thread drives the runtime.
    machine: Mutex<Option<Arc<Machine>>>,
    /// The thread sleeps for lack of work, or there is none.
    is_parked: AtomicBool,
}

impl Watch {
    /// `threshold`: shorter polls are not reported.
    pub(super) fn new(threshold: Duration) -> Watch {
        Watch { threshold, machine: Mutex::new(None), is_parked: AtomicBool::new(true) }
    }

    pub(super) fn set_machine(&self, machine: Option<Arc<Machine>>) {
        self.is_parked.store(machine.is_none(), Relaxed);
        *self.machine.lock() = machine;
    }

    pub(super) fn set_parked(&self, is_parked: bool) {
        self.is_parked.store(is_parked, Relaxed);
    }

    pub(super) fn is_parked(&self) -> bool {
        self.is_parked.load(Relaxed)
    }

    pub(super) fn pace(&self) -> Duration {
        (self.threshold / LOOKS).max(SHORTEST)
    }

    /// The machine of the watched thread, if it is in a poll or a section of one.
    fn sighting(&self) -> Option<(Arc<Machine>, Sighting)> {
        let machine = self.machine.lock().clone()?;
        let sighting = machine.ownership.look()?;
        Some((machine, sighting))
    }
}

/// What the report thread remembers between two looks.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    seen: Option<Seen>,
    looked_at: Option<Instant>,
    idle_looks: u32,
}

/// A poll of the watched thread.
#[derive(Debug)]
struct Seen {
    machine: Arc<Machine>,
    sighting: Sighting,
    since: Instant,
    /// How long it was seen. While the process is stopped, this does not grow.
    held: Duration,
    /// How long the thread had been runnable when the poll was seen first.
    runnable: RunnableTime,
    /// The cause that was recorded for it.
    recorded: Option<BlockedCause>,
}

impl Watcher {
    /// One look. Returns the end of the poll that was recorded, and the poll that is long by now.
    pub(super) fn look(&mut self, watch: &Watch, now: Instant) -> Vec<Record> {
        let before = self.looked_at.replace(now);
        let step = before.map_or(Duration::ZERO, |at| now.saturating_duration_since(at)).min(watch.pace() * 2);
        self.idle_looks = if watch.is_parked() { self.idle_looks + 1 } else { 0 };
        let ended = self.update(watch.sighting(), step, now);
        let begun = self.seen.as_mut().and_then(|seen| seen.begun(watch.threshold));
        ended.map(Record::Ended).into_iter().chain(begun.map(Record::Begun)).collect()
    }

    /// How soon to look again; `None`: when the watched thread calls.
    pub(super) fn pace(&mut self, watch: &Watch) -> Option<Duration> {
        if self.idle_looks < IDLE_LOOKS {
            return Some(watch.pace());
        }
        *self = Watcher::default();
        None
    }

    /// A poll that is seen in scheduler code may go on. It is then recorded again, as the same one.
    fn update(&mut self, sighting: Option<(Arc<Machine>, Sighting)>, step: Duration, now: Instant) -> Option<Ended> {
        let Some((machine, sighting)) = sighting else { return self.end() };
        match &mut self.seen {
            Some(seen) if seen.is_in(&machine, sighting) => {
                seen.again(sighting, step, now);
                None
            }
            _ => {
                let ended = self.end();
                self.seen = Some(Seen::new(machine, sighting, now));
                ended
            }
        }
    }

    fn end(&mut self) -> Option<Ended> {
        let seen = self.seen.take_if(|seen| seen.recorded.is_some())?;
        Some(Ended::now(&seen.machine, seen.sighting.turn()))
    }
}

impl Seen {
    fn new(machine: Arc<Machine>, sighting: Sighting, since: Instant) -> Seen {
        let runnable = machine.runnable_time();
        Seen { machine, sighting, since, held: Duration::ZERO, runnable, recorded: None }
    }

    fn is_in(&self, machine: &Arc<Machine>, sighting: Sighting) -> bool {
        Arc::ptr_eq(&self.machine, machine) && self.sighting.is_same_turn(sighting)
    }

    /// The same poll. A declared section does not count, and the time before it no longer does.
    fn again(&mut self, sighting: Sighting, step: Duration, now: Instant) {
        if sighting == self.sighting {
            self.held += step;
        } else {
            let recorded = self.recorded;
            *self = Seen { recorded, ..Seen::new(self.machine.clone(), sighting, now) };
        }
    }

    /// The poll, if it is long by now and was not recorded yet. One that got no core at first may
    /// block or compute afterwards.
    fn begun(&mut self, threshold: Duration) -> Option<Begun> {
        let is_known = self.recorded.is_some_and(|cause| cause != BlockedCause::Starved);
        if is_known || self.sighting.region != Region::Poll || self.held < threshold {
            return None;
        }
        let cause = self.cause(threshold).filter(|cause| self.recorded != Some(*cause))?;
        let turn = self.sighting.turn();
        let running = self.machine.running_in(turn)?;
        self.recorded = Some(cause);
        Some(Begun {
            machine: self.machine.clone(),
            turn,
            task: running.task,
            name: name_of(running.task),
            location: running.location,
            is_root: running.is_root,
            cause,
            since: self.since,
        })
    }

    /// `None`: not known yet.
    fn cause(&self, threshold: Duration) -> Option<BlockedCause> {
        let state = self.machine.state();
        let runnable = self.machine.runnable_time().since(self.runnable);
        if state == Some(ThreadState::Asleep) {
            Some(BlockedCause::Blocked)
        } else if self.held.saturating_sub(runnable.waiting) < threshold {
            Some(BlockedCause::Starved)
        } else if runnable.on_core * 20 > self.held {
            Some(BlockedCause::Computing)
        } else {
            // Without /proc: a thread that does not compute sleeps.
            state.is_none().then_some(BlockedCause::Blocked)
        }
    }
}
