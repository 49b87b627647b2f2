//! Tasks that can never run again: no waker of them is left.
//!
//! Only tasks of a runtime that observes its tasks (`Config::observed`) are found; their wakers are
//! counted ([`Observer`]). The claim is made about a task only if it is certain, and from then on
//! it stays true: a task that waits runs no code that could make a waker of it. The task can still
//! be aborted, by a handle or by the end of the runtime, which ends the task.
//!
//! | machine that polls the task | check |
//! |---|---|
//! | P1 state = running in poll n | L1 the task waits since poll n, and has no waker |
//! | P2 state = waiting since poll n | L2 no machine polls the task |
//! | P3 async-task: woken since P1? Then note = scheduled | L3 the same as L1, again |
//! | P4 region = scheduler (Release) | |
//!
//! *Claim: a task that L1 and L3 agree about, and no machine polls at L2, is not woken any more.*
//! L3 excludes every waker that exists outside of a poll (`task::observer`). There remains a
//! wake-up during poll n, before whose P3 the stage is "waiting" although the task will be
//! scheduled. L1 has seen P2 of poll n, so L2 finds the machine outside of scheduler code in the
//! turn of poll n, or has seen P4 of that turn, or a later turn: between P2 and P3 the machine
//! enters no scheduler code. In the last two cases L3 sees P3.
//!
//! *Awaited tasks.* A waker may also be in the slot of a task whose `JoinHandle` is awaited
//! (`task::observer::joining`), where only the end of that task uses it. Such a task is stuck as
//! well, if the tasks that it awaits are: so tasks that await each other are found. L1 and L3 agree
//! about all of them, so there was a moment between the two at which all of them waited, and no
//! waker of them was anywhere else. Only an abort of one of them can wake the others.
//!
//! *Tasks of a `LocalSet`* are polled by the thread of the set, which may be no machine, or a
//! machine in the poll of another future. So the set says itself which of its tasks is polled
//! (`task::local_set::polled`): before P1, and no longer after P3. That takes the place of the
//! region at L2 and P4. The end of a set ends its tasks before the runtime does, so what is lost
//! then is kept for the end of the runtime.
//!
//! *Without L2* the wake-up between P2 and P3 is overlooked. *With a relaxed P4* L2 may see the end
//! of the turn before what happened in it. Models: `loom_lost_*`.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::panic::Location;

use crate::sched::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::task::registry::{Observed, Position, Registry};
use crate::task::{Id, LocalHome, Observer, Progress, local_sets_of};

mod deadlock;
pub(crate) mod locks;
#[cfg(all(test, loom))]
mod loom_lost;
mod settings;
mod silence;

pub(crate) use deadlock::find_deadlock;
pub use settings::Leaks;
pub(crate) use silence::{Before, Silence, limit_from_env};

/// Entries per turn of a lock, so that a task that needs the lock waits for some microseconds only.
const TURN: usize = 256;

/// A task that can never run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) id: Id,
    pub(crate) name: Option<Box<str>>,
    /// The address of the set that the task belongs to; 0: none.
    pub(crate) set: usize,
    /// Where it was spawned.
    pub(crate) location: &'static Location<'static>,
    pub(crate) stuck: Stuck,
    /// Whether it has, or had, an `AbortHandle`.
    pub(crate) is_abortable: bool,
}

/// The state of a task that no waker can reach, except those of the tasks that it awaits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    /// How often it was polled.
    pub(crate) polls: u32,
    /// The tasks that it awaits.
    pub(crate) joins: Vec<Id>,
}

/// The tasks of a runtime that can never run again. Those that a machine has polled a moment ago
/// may be missing.
pub(crate) fn find(scheduler: &Scheduler) -> Vec<Lost> {
    if scheduler.is_shutdown() {
        return Vec::new();
    }
    let sets = local_sets_of(scheduler);
    let mut seen = HashMap::new();
    look(scheduler, &sets, |lost| _ = seen.insert(lost.id, lost)); // L1
    for_each_machine(scheduler, |machine| _ = polled_by(machine).map(|id| seen.remove(&id))); // L2
    sets.iter().for_each(|set| _ = set.polled().map(|id| seen.remove(&id)));
    let mut lost = Vec::new();
    if !seen.is_empty() {
        look(scheduler, &sets, |again| lost.extend((seen.get(&again.id) == Some(&again)).then_some(again))); // L3
    }
    without_those_that_wait_for_others(lost)
}

/// A set is about to end its tasks.
pub(crate) fn note_end_of_set(scheduler: &Scheduler, set: &LocalHome) {
    if scheduler.config.leaks == Leaks::Off || set.is_empty() {
        return;
    }
    let lost = find(scheduler).into_iter().filter(|lost| lost.set == set.address());
    scheduler.lost_in_sets.lock().extend(lost);
}

/// The tasks that can never run again, and those that couldn't when their set ended.
pub(crate) fn find_all(scheduler: &Scheduler) -> Vec<Lost> {
    let mut lost = std::mem::take(&mut *scheduler.lost_in_sets.lock());
    lost.extend(find(scheduler));
    lost
}

/// Removes tasks that await a task which is not in the list, until there are none.
fn without_those_that_wait_for_others(mut lost: Vec<Lost>) -> Vec<Lost> {
    loop {
        let ids: HashSet<Id> = lost.iter().map(|lost| lost.id).collect();
        lost.retain(|lost| lost.stuck.joins.iter().all(|awaited| ids.contains(awaited)));
        if lost.len() == ids.len() {
            return lost;
        }
    }
}

/// Shows the tasks that wait, and have no waker outside of the tasks that they await.
fn look(scheduler: &Scheduler, sets: &[Arc<LocalHome>], mut see: impl FnMut(Lost)) {
    let of_sets = sets.iter().map(|set| (set.registry(), set.address()));
    for (registry, set) in iter::once((&scheduler.registry, 0)).chain(of_sets) {
        look_into(registry, |task| _ = verdict(task, set).map(&mut see));
    }
}

fn look_into(registry: &Registry, mut see: impl FnMut(&Observed<'_>)) {
    let mut at = Some(Position::default());
    while let Some(position) = at {
        at = registry.look_at_observed(position, TURN, |task| see(&task));
    }
}

fn verdict(task: &Observed<'_>, set: usize) -> Option<Lost> {
    let header = task.header;
    let stuck = stuck(&header.progress, task.observer).filter(|_| !header.is_aborted())?;
    let (id, name, location) = (header.id, header.name(), header.location);
    Some(Lost { id, name, set, location, stuck, is_abortable: task.is_abortable })
}

/// `None`: the task does not wait, or has other wakers. The wakers are counted before the stage is
/// read.
pub(super) fn stuck(progress: &Progress, observer: &Observer) -> Option<Stuck> {
    let joins = observer.only_tasks()?;
    Some(Stuck { polls: progress.waits_since()?, joins })
}

pub(super) fn polled_by(machine: &Machine) -> Option<Id> {
    machine.running_in(machine.ownership.turn()).map(|running| running.task)
}

/// The machine of the current-thread flavour is the holder of its processor, and in no list.
fn for_each_machine(scheduler: &Scheduler, mut see: impl FnMut(&Machine)) {
    scheduler.all_machines.for_each(|machine| see(machine));
    scheduler.processors.iter().filter_map(|processor| processor.holder()).for_each(|machine| see(&machine));
}
