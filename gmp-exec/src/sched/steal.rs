//! Stealing tasks from other processors: which victims to ask, in which order, and when to take
//! `runnext` as well.
//!
//! A thief makes four rounds over all other processors. Each round has a random start and a random
//! stride, so that thieves don't queue up at the same victim. A stride that is coprime with the
//! number of processors visits each victim once. In rounds one to three the thief takes half a
//! ring. It takes `runnext` only in the last round, and only if the same task is still there after
//! a real back-off: two tasks that take turns are faster on one thread, and a thief that is too
//! quick separates them (measured: after a 1 µs wait 222 thefts a run and 228 ns a join, after 50
//! µs 0.3 and 161 ns). 50 µs is what Go's 3 µs sleep takes on Linux, timer slack included.

use std::time::Duration;

use crate::sched::local::{Held, Local};
use crate::sync::thread;
use crate::task::Runnable;
use crate::trace::Kind;

const ROUNDS: usize = 4;
const RUNNEXT_BACK_OFF: Duration = Duration::from_micros(50);

/// Takes tasks of another processor; the first is to be run now, the rest is in the own ring.
#[doc(alias = "stealwork")]
#[doc(alias = "runqsteal")]
pub(super) fn steal(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let counters = &held.processor.counters;
    counters.steal_attempts.add(1);
    let stolen = (1..ROUNDS).find_map(|_| steal_ring(local, held)).or_else(|| steal_runnext(local, held));
    counters.steals.add(u64::from(stolen.is_some()));
    // Unless another thief has been here already.
    let queued = held.processor.queue.depth(&held.proof);
    counters.stolen_tasks.add(if stolen.is_some() { queued as u64 + 1 } else { 0 });
    stolen
}

fn steal_ring(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let own = &held.processor.queue;
    victims(local, held).find_map(|victim| {
        let queue = &local.scheduler.processors[victim].queue;
        let stolen = if queue.is_empty() { None } else { queue.steal_into(own, &held.proof) };
        stolen.inspect(|task| local.record(Kind::Steal, task.metadata().id.as_u64(), victim))
    })
}

fn steal_runnext(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let processors = &local.scheduler.processors;
    let victim = victims(local, held).find(|&victim| !processors[victim].runnext.is_empty())?;
    let seen = processors[victim].runnext.see()?;
    thread::sleep(RUNNEXT_BACK_OFF);
    steal_ring(local, held).or_else(|| {
        let stolen = processors[victim].runnext.steal(seen);
        stolen.inspect(|task| local.record(Kind::Steal, task.metadata().id.as_u64(), victim))
    })
}

fn victims<'a>(local: &'a Local, held: &Held<'_>) -> impl Iterator<Item = usize> + use<'a> {
    let own = held.index;
    local.scheduler.processors.victims().round(held.processor.random(&held.proof)).filter(move |&victim| victim != own)
}
