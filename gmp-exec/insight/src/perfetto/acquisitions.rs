//! Which thread got which processor, and when.

use std::collections::HashMap;

use super::event::{Event, Timed};
use super::timeline::Track;

/// When threads got processors, as far as their rings still say so. The track is that of the thread.
#[derive(Debug, Default)]
pub(super) struct Acquisitions {
    /// Those of each processor, in the order of time.
    of_processors: HashMap<usize, Vec<(u64, Track)>>,
}

impl Acquisitions {
    pub(super) fn of<'a>(threads: impl Iterator<Item = (Track, &'a [Timed])>) -> Acquisitions {
        let mut of_processors = HashMap::<usize, Vec<(u64, Track)>>::new();
        for (track, events) in threads {
            for timed in events {
                if let Event::Acquire(processor) = timed.event {
                    of_processors.entry(processor).or_default().push((timed.at, track));
                }
            }
        }
        of_processors.values_mut().for_each(|acquisitions| acquisitions.sort_unstable());
        Acquisitions { of_processors }
    }

    /// When another thread than this one gets the processor for the first time after this moment.
    pub(super) fn by_another(&self, thread: Track, processor: usize, after: u64) -> Option<u64> {
        let all = self.of_processors.get(&processor)?;
        let later = &all[all.partition_point(|(at, _)| *at <= after)..];
        later.iter().find(|(_, track)| *track != thread).map(|(at, _)| *at)
    }
}
