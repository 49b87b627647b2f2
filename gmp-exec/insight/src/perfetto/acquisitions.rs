//! Which thread had which processor, and since when.

use std::collections::HashMap;

use super::event::{Event, Timed};
use super::item::Track;

/// When threads got processors. Where a ring has overwritten the acquisition, the moment is that of the
/// first event that is left and at which the thread certainly had the processor. The track is that of
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

    /// Until when this thread, which has the processor at this moment, can have it: just before another
    /// thread had the processor for the first time.
    pub(super) fn last_moment(&self, thread: Track, processor: usize, since: u64) -> Option<u64> {
        let all = self.of_processors.get(&processor)?;
        let later = &all[all.partition_point(|(at, _)| *at <= since)..];
        // What the other thread does at the same moment comes later, whichever is drawn first.
        later.iter().find(|(_, track)| *track != thread).map(|(at, _)| *at - 1)
    }
}

/// Whether a machine has its processor at such an event. At the end of a poll it may not: the processor
/// may have been taken during the poll.
fn shows_processor(event: Event) -> bool {
    matches!(event, Event::PollBegin { .. } | Event::Unpark { .. } | Event::Release(_) | Event::Queues { .. })
}

/// The processor that a machine held at the first of these events, by the first one that tells.
/// `None`: no processor, or no event before the next gap tells. Then a poll is drawn where the thread
/// is, like polls of threads that never hold a processor.
pub(super) fn held_at_first(events: &[Timed]) -> Option<usize> {
    let mut before_gap = events.iter().map(|timed| timed.event).take_while(|event| !matches!(event, Event::Lost(_)));
    before_gap.find_map(|event| match event {
        Event::Acquire(_) => Some(None),
        Event::Unpark { processor } | Event::PollEnd { processor, .. } => Some(processor),
        Event::Release(processor) | Event::Queues { processor, .. } | Event::Take { processor, .. } => {
            Some(Some(processor))
        }
        _ => None,
    })?
}
