//! Which thread had which processor, and since when.

use std::collections::HashMap;

use super::event::{Event, Timed};
use super::follower::held_at_first;
use super::timeline::Track;

/// When threads got processors, as far as their rings still say so. If a ring has overwritten that, the
/// first moment that is left and at which the thread certainly had the processor. The track is that of
/// the thread.
#[derive(Debug, Default)]
pub(super) struct Acquisitions {
    /// Those of each processor, in the order of time.
    of_processors: HashMap<usize, Vec<(u64, Track)>>,
}

impl Acquisitions {
    pub(super) fn of<'a>(threads: impl Iterator<Item = (Track, &'a [Timed])>) -> Acquisitions {
        let mut of_processors = HashMap::<usize, Vec<(u64, Track)>>::new();
        for (track, events) in threads {
            let mut is_known = false;
            for (index, timed) in events.iter().enumerate() {
                is_known &= !matches!(timed.event, Event::Lost(_));
                let held = match timed.event {
                    Event::Acquire(processor) => Some(processor),
                    event if !is_known && shows_processor(event) => held_at_first(&events[index..]),
                    _ => continue,
                };
                is_known = true;
                if let Some(processor) = held {
                    of_processors.entry(processor).or_default().push((timed.at, track));
                }
            }
        }
        of_processors.values_mut().for_each(|acquisitions| acquisitions.sort_unstable());
        Acquisitions { of_processors }
    }

    /// Until when this thread can have the processor, which it has at this moment: just before another one
    /// had it for the first time.
    pub(super) fn last_moment(&self, thread: Track, processor: usize, since: u64) -> Option<u64> {
        let all = self.of_processors.get(&processor)?;
        let later = &all[all.partition_point(|(at, _)| *at <= since)..];
        // What the other thread does at the same moment comes later, whichever is drawn first.
        later.iter().find(|(_, track)| *track != thread).map(|(at, _)| *at - 1)
    }
}

/// Whether the machine had its processor at such an event, if a later one says so. It may have lost it
/// during the poll that ends.
fn shows_processor(event: Event) -> bool {
    matches!(event, Event::PollBegin { .. } | Event::Unpark { .. } | Event::Release(_) | Event::Queues { .. })
}
