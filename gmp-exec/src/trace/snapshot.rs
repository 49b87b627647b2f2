//! A copy of what was recorded, with times in nanoseconds and the events in order.

use std::io::{self, Write};
use std::iter;
use std::time::Duration;

use gmp_insight::perfetto::{self, Gone};

use super::clock::Scale;
use super::event::{Event, TIME};
use super::recording::{Copy, Recording, Source};
use crate::sched::SchedulerRef;
use crate::sync::Arc;

/// How often a snapshot is begun again because a ring was too fast.
const ATTEMPTS: usize = 3;

/// What a [`Recorder`](super::Recorder) had recorded at some moment.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) recording: Arc<Recording>,
    pub(super) rings: Vec<RingEvents>,
    pub(super) processors: usize,
    pub(super) name: Option<String>,
    /// Live tasks when the snapshot was taken.
    pub(super) tasks: usize,
    /// Since the recording has started, in nanoseconds.
    pub(super) taken_at: u64,
    pub(super) overwritten: u64,
    /// Events of threads whose rings are not kept any more.
    pub(super) gone: Gone,
}

/// The events of one thread.
#[derive(Debug)]
pub(super) struct RingEvents {
    pub(super) source: Source,
    pub(super) events: Vec<Timed>,
    /// Earlier events are missing: how many, as far as no part before has said.
    pub(super) missing: Option<u64>,
    /// More events may come.
    pub(super) has_writer: bool,
}

/// An event, and when it was, in nanoseconds since the recording has started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub(super) at: u64,
    pub(super) event: Event,
}

impl Snapshot {
    pub(super) fn of(recording: &Arc<Recording>, scheduler: &SchedulerRef) -> Snapshot {
        let attempt = || Snapshot::attempt(recording, scheduler);
        iter::repeat_with(attempt).take(ATTEMPTS).find(|snapshot| !snapshot.has_missed_a_ring()).unwrap_or_else(attempt)
    }

    /// A thread that has gone once round its ring since the snapshot has begun has overwritten all
    /// that it had recorded before.
    fn has_missed_a_ring(&self) -> bool {
        self.rings.iter().any(|ring| ring.missing.is_some() && ring.events.is_empty())
    }

    fn attempt(recording: &Arc<Recording>, scheduler: &SchedulerRef) -> Snapshot {
        // Before the rings are copied: later events are left out.
        let tasks = scheduler.live_tasks();
        let copies = recording.copy();
        let (events, gone_at) = copies.gone;
        let overwritten = events + copies.rings.iter().map(|copy| copy.copied.overwritten).sum::<u64>();
        let rings = copies.rings.iter().map(|copy| RingEvents::of(copy, copies.scale)).collect();
        let gone = Gone { events, until: copies.scale.moment(gone_at, TIME) };
        Snapshot { tasks, gone, ..Snapshot::with(recording, scheduler, rings, copies.scale, overwritten) }
    }

    pub(super) fn with(
        recording: &Arc<Recording>,
        scheduler: &SchedulerRef,
        rings: Vec<RingEvents>,
        scale: Scale,
        overwritten: u64,
    ) -> Snapshot {
        Snapshot {
            recording: recording.clone(),
            rings,
            processors: scheduler.processors.len(),
            name: scheduler.config.name.clone(),
            tasks: scheduler.live_tasks(),
            taken_at: scale.elapsed(),
            overwritten,
            gone: Gone::default(),
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.rings.iter().map(|ring| ring.events.len()).sum()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many events were recorded before these, and overwritten since.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// The time from the first event to the snapshot. Threads that do more overwrite their events
    /// sooner: at the beginning of this time, only the quieter ones are seen.
    pub fn duration(&self) -> Duration {
        self.until_taken(self.rings.iter().filter_map(|ring| ring.events.first()).map(|timed| timed.at).min())
    }

    /// How much of [`duration`](Self::duration), at its end, has the events of all threads.
    pub(super) fn complete(&self) -> Duration {
        let cut = self.rings.iter().filter(|ring| ring.missing.is_some());
        let firsts = cut.map(|ring| ring.events.first().map_or(self.taken_at, |timed| timed.at));
        let since = firsts.chain(Some(self.gone.until).filter(|_| self.gone.events > 0)).max();
        since.map_or(self.duration(), |since| self.until_taken(Some(since)))
    }

    fn until_taken(&self, since: Option<u64>) -> Duration {
        Duration::from_nanos(since.map_or(0, |since| self.taken_at.saturating_sub(since)))
    }

    /// Writes the snapshot as a trace of Perfetto (protobuf).
    /// [ui.perfetto.dev](https://ui.perfetto.dev) opens it, and so does `cargo gmp trace`.
    ///
    /// The file has a track per processor with the polls that ran there, named after where the
    /// tasks were spawned; a track per thread that shows where the thread was; the lengths of
    /// queues; and an arrow from each wake-up to the poll that it led to. A poll whose thread was
    /// seen asleep says in which system call, and with the feature `blocked-stacks` on which stack.
    /// Finding the names takes long for the first stack.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn write_perfetto(&self, out: impl Write) -> io::Result<()> {
        perfetto::write(&self.to_draw(), out)
    }
}

impl RingEvents {
    fn of(copy: &Copy, scale: Scale) -> RingEvents {
        let events = copy.copied.events.iter().filter_map(|words| Event::unpack(*words));
        // Otherwise a ring that is copied late would say that its thread has got a processor, and
        // the ring copied before it would not say yet that the other thread had lost the processor.
        let events = events.filter(|event| !scale.is_later(event.ticks, TIME));
        RingEvents {
            source: copy.source,
            events: events.map(|event| Timed::of(event, scale)).collect(),
            missing: Some(copy.copied.overwritten).filter(|events| *events > 0),
            has_writer: copy.has_writer,
        }
    }
}

impl Timed {
    pub(super) fn of(event: Event, scale: Scale) -> Timed {
        Timed { at: scale.moment(event.ticks, TIME), event }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::trace::event::Kind;
    use crate::trace::recording::Owner;

    /// Rings are copied one after the other, while threads go on.
    #[test]
    fn a_snapshot_ends_at_one_moment() {
        let recording = Recording::new(1 << 20, None);
        let mut writer = recording.join(Owner::Machine(0));
        writer.record_at(writer.ticks(), Kind::Mark, 1, 0);
        let scale = recording.copy().scale;
        while !scale.is_later(writer.ticks(), TIME) {}
        writer.record_at(writer.ticks(), Kind::Mark, 2, 0);
        let ring = RingEvents::of(&recording.copy().rings[0], scale);
        assert_eq!(ring.events.iter().map(|timed| timed.event.subject).collect::<Vec<_>>(), [1]);
    }
}
