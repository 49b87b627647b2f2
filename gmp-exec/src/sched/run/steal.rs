//! Stealing tasks from other processors: which victims to ask, in which order, and when to take
//! `runnext` as well.
//!
//! A spinner makes four rounds over all other processors. Each round has a random start and a random
//! stride, so that thieves don't queue up at the same victim. A stride that is coprime with the
//! number of processors visits each victim once. In rounds one to three the spinner takes half a ring.
//! It takes `runnext` only in the last round, and only if the same task is still there after a real
//! back-off: two tasks that take turns are faster on one thread, and a thief that is too quick separates
//! them (measured: after a 1 µs wait 222 thefts a run and 228 ns a
//! join, after 50 µs 0.3 and 161 ns). 50 µs is what Go's 3 µs sleep takes on Linux, timer slack
//! included.

use std::time::Duration;

use crate::observe::{self, Event};
use crate::sched::local::{Held, Local};
use crate::sched::submit::wake::wake_one;
use crate::sync::thread;
use crate::task::Runnable;

const ROUNDS: usize = 4;
const RUNNEXT_BACK_OFF: Duration = Duration::from_micros(50);

/// Takes half of the ring of one other processor, if tasks are there; the first is to be run now, the
/// rest is in the own ring. These tasks have waited for longer than those that the network would report
/// now, and perhaps their machine has lost its core. With the network first, the p99 of a JSON service on
/// two cores was 2.3 ms instead of 1.0 (tokio: 0.9). Rejected: a look at all rings. With 64 processors it
/// doubled the transfers of cache lines for each theft; spinners look at all.
pub(in crate::sched) fn steal_queued(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let victim = any_victim(local, held)?;
    if local.scheduler.processors[victim].queue.is_empty() {
        return None;
    }
    let stolen = counted(held, || steal_ring_of(local, held, victim));
    if !held.processor.queue.is_empty() {
        // A machine that has parked since may have looked while the tasks were in neither ring, and this
        // one does not spin.
        wake_one(&local.scheduler);
    }
    stolen
}

/// The same, for a spinner: in several rounds, and in the end also `runnext`.
#[doc(alias = "stealwork")]
#[doc(alias = "runqsteal")]
pub(in crate::sched) fn steal(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    counted(held, || (1..ROUNDS).find_map(|_| steal_ring(local, held)).or_else(|| steal_runnext(local, held)))
}

fn counted(held: &Held<'_>, steal: impl FnOnce() -> Option<Runnable>) -> Option<Runnable> {
    let counters = &held.processor.counters;
    counters.steal_attempts.add(1);
    let stolen = steal();
    counters.steals.add(u64::from(stolen.is_some()));
    // Unless another thief has been here already.
    let queued = held.processor.queue.depth(&held.proof);
    counters.stolen_tasks.add(if stolen.is_some() { queued as u64 + 1 } else { 0 });
    stolen
}

fn steal_ring(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    victims(local, held).find_map(|victim| steal_ring_of(local, held, victim))
}

fn steal_ring_of(local: &Local, held: &Held<'_>, victim: usize) -> Option<Runnable> {
    let queue = &local.scheduler.processors[victim].queue;
    let stolen = if queue.is_empty() { None } else { queue.steal_into(&held.processor.queue, &held.proof) };
    stolen.inspect(|task| observe::on(local, Event::Steal(task, victim)))
}

fn steal_runnext(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let processors = &local.scheduler.processors;
    let victim = victims(local, held).find(|&victim| !processors[victim].runnext.is_empty())?;
    let seen = processors[victim].runnext.see()?;
    thread::sleep(RUNNEXT_BACK_OFF);
    steal_ring(local, held).or_else(|| {
        let stolen = processors[victim].runnext.steal(seen);
        stolen.inspect(|task| observe::on(local, Event::Steal(task, victim)))
    })
}

/// `None`: there is no other processor.
fn any_victim(local: &Local, held: &Held<'_>) -> Option<usize> {
    let others = local.scheduler.processors.len() - 1;
    let random = held.processor.random(&held.proof) as usize;
    (others > 0).then(|| (held.index + 1 + random % others) % (others + 1))
}

fn victims<'a>(local: &'a Local, held: &Held<'_>) -> impl Iterator<Item = usize> + use<'a> {
    let (own, random) = (held.index, held.processor.random(&held.proof));
    round(local.scheduler.processors.len(), random).filter(move |&victim| victim != own)
}

/// A way to visit `count` processors once each, chosen by `random`: from a random start in a stride that
/// is coprime with their number.
fn round(count: usize, random: u32) -> impl Iterator<Item = usize> {
    let random = random as usize;
    let (start, least) = (random % count, random / count);
    let mut strides = (0..count).map(move |i| (least + i) % count + 1);
    let stride = strides.find(|&stride| gcd(stride, count) == 1).unwrap_or(1);
    (0..count).map(move |i| (start + i * stride) % count)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{gcd, round};

    #[test]
    fn a_round_visits_every_processor_once() {
        for count in 1..=64 {
            for random in 0..(count * count) as u32 {
                let visited: Vec<_> = round(count, random).collect();
                assert_eq!(visited.len(), count);
                assert_eq!(visited.iter().copied().collect::<HashSet<_>>().len(), count);
            }
        }
    }

    #[test]
    fn starts_and_strides_vary_independently() {
        for count in 3..=64 {
            let rounds = (0..(count * count) as u32).map(|random| round(count, random).take(2).collect());
            let distinct: HashSet<Vec<usize>> = rounds.collect();
            let strides = (1..count).filter(|&stride| gcd(stride, count) == 1).count();
            assert_eq!(distinct.len(), count * strides);
        }
    }
}
