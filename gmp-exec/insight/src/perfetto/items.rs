//! Gathering what is drawn: arrows from wake-ups to polls, and numbers that change.

use std::collections::{HashMap, HashSet};
use std::mem;

use super::event::{Event, Timed};
use super::item::{Item, Slice, Track, What};
use super::snapshot::{Gone, Ring, Snapshot};
use super::timeline::Carried;

/// A task that was woken is polled within this time, in nanoseconds, or the poll has no flow: the
/// task may have been cancelled.
const LONGEST_WAIT: u64 = 60_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) items: Vec<Item>,
    /// When a machine got a processor (1), or let go of one (-1).
    pub(super) holds: Vec<(u64, i64)>,
    /// When a task was spawned (1), or was over (-1).
    pub(super) lives: Vec<(u64, i64)>,
}

impl Items {
    pub(super) fn push(&mut self, at: u64, track: Track, what: What) {
        self.items.push(Item { at, track, what });
    }

    /// Events that don't change where a machine is.
    pub(super) fn instant(&mut self, timed: &Timed, track: Track) {
        let at = timed.at;
        let what = match timed.event {
            Event::Wake { task, place } => What::Wake { task, place, flow: None },
            Event::Spawn { task, place } => {
                self.lives.push((at, 1));
                What::Wake { task, place: Some(place), flow: None }
            }
            Event::Steal { task, victim } => What::Steal { task, victim },
            Event::Timers(count) => What::Timers(count),
            Event::Ready(count) => What::Ready(count),
            Event::Mark { task, name } => What::Mark { task, name },
            Event::Lost(count) => What::Lost(count),
            Event::Queues { processor, own, global } => {
                self.push(at, Track::GlobalQueue, What::Number(global));
                return self.push(at, Track::Queue(processor), What::Number(own));
            }
            _ => return,
        };
        self.push(at, track, what);
    }

    /// Events of threads that have no ring of their own.
    pub(super) fn others(&mut self, begin: u64, ring: &Ring) {
        if let Some(count) = ring.missing {
            self.push(begin, Track::Others, What::Lost(count));
        }
        let mut is_in_gap = ring.missing.is_some();
        for timed in &ring.events {
            let is_lost = matches!(timed.event, Event::Lost(_));
            if mem::replace(&mut is_in_gap, is_lost) && !is_lost {
                self.push(timed.at, Track::Others, What::Complete);
            }
            self.instant(timed, Track::Others);
        }
    }

    pub(super) fn gone(&mut self, begin: u64, gone: Gone) {
        if gone.events > 0 {
            self.push(begin, Track::Gone, What::Lost(gone.events));
            self.push(gone.until.max(begin), Track::Gone, What::Complete);
        }
    }

    /// Connects each wake-up to the poll that came of it. A task that was woken is not woken again
    /// until it is polled, so the two follow each other. In a part, the poll of the last wake-ups
    /// may be in the next part. While events are missing, a poll may have come of one of these, and
    /// nothing is connected.
    pub(super) fn connect(&mut self, carried: &mut Carried, is_part: bool) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|index| self.items[*index].at);
        let (mut woken, mut gaps) = (HashMap::<u64, usize>::new(), HashSet::new());
        for index in order {
            match self.items[index].what {
                What::Wake { task, .. } if gaps.is_empty() => {
                    carried.woken.remove(&task);
                    woken.insert(task, index);
                }
                What::Lost(_) => {
                    gaps.insert(self.items[index].track);
                    woken.clear();
                    carried.woken.clear();
                }
                What::Complete => drop(gaps.remove(&self.items[index].track)),
                What::Begin {
                    slice: Slice::Poll { task, .. } | Slice::Local { task, .. }, is_resumed: false, ..
                } => {
                    if let Some(wake) = woken.remove(&task) {
                        carried.flows += 1;
                        self.set_flow(wake, carried.flows);
                        self.set_flow(index, carried.flows);
                    } else if let Some((_, flow)) = carried.woken.remove(&task) {
                        self.set_flow(index, flow);
                    }
                }
                _ => {}
            }
        }
        if is_part {
            self.begin_flows(carried, woken);
        }
    }

    fn begin_flows(&mut self, carried: &mut Carried, woken: HashMap<u64, usize>) {
        let oldest = carried.begin.saturating_sub(LONGEST_WAIT);
        carried.woken.retain(|_, (at, _)| *at >= oldest);
        for (task, index) in woken {
            carried.flows += 1;
            self.set_flow(index, carried.flows);
            carried.woken.insert(task, (self.items[index].at, carried.flows));
        }
    }

    fn set_flow(&mut self, index: usize, number: u64) {
        if let What::Wake { flow, .. } | What::Begin { flow, .. } = &mut self.items[index].what {
            *flow = Some(number);
        }
    }

    pub(super) fn count_idle(&mut self, processors: usize) {
        let mut holds = mem::take(&mut self.holds);
        holds.sort_by_key(|(at, _)| *at);
        let mut busy = 0;
        for (at, change) in holds {
            busy += change;
            let idle = (processors as i64 - busy).max(0);
            self.push(at, Track::IdleProcessors, What::Number(idle as u64));
        }
    }

    /// Counts back from the number of tasks at the end, as far as no ring has lost events.
    pub(super) fn count_tasks(&mut self, snapshot: &Snapshot<'_>) {
        let first = |ring: &Ring| ring.events.first().map_or(snapshot.taken_at, |timed| timed.at);
        let cut = snapshot.rings.iter().filter(|ring| ring.missing.is_some()).map(first);
        let gap_ends = snapshot.rings.iter().flat_map(|ring| gap_ends(&ring.events, snapshot.taken_at));
        let since = cut.chain(gap_ends).max().unwrap_or(0);
        let mut lives = mem::take(&mut self.lives);
        lives.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut tasks = snapshot.tasks as i64;
        for (at, change) in lives.into_iter().take_while(|(at, _)| *at >= since) {
            self.push(at, Track::Tasks, What::Number(tasks.max(0) as u64));
            tasks -= change;
        }
    }
}

/// The moments of the first events after gaps.
fn gap_ends(events: &[Timed], end: u64) -> impl Iterator<Item = u64> + '_ {
    let next = events.iter().skip(1).map(|timed| timed.at).chain([end]);
    events.iter().zip(next).filter(|(timed, _)| matches!(timed.event, Event::Lost(_))).map(|(_, next)| next)
}
