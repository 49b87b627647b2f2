//! What was recorded, as plain data for the crate that draws it (gmp-insight).

use gmp_insight::perfetto::{self, Event as Drawn, Names, Place, Ring, Source};

use super::event::{Event, Kind, Left, PollEnd, Taken};
use super::recording::{Owner, Recording};
use super::snapshot::{RingEvents, Snapshot, Timed};
use crate::blocked::Sight;
use crate::escaped::short;

impl Snapshot {
    pub(super) fn to_draw(&self) -> perfetto::Snapshot<'_> {
        perfetto::Snapshot {
            names: &*self.recording,
            rings: self.rings.iter().map(ring).collect(),
            processors: self.processors,
            name: self.name.as_deref(),
            tasks: self.tasks,
            taken_at: self.taken_at,
            recording: self.recording.started,
            gone: self.gone,
        }
    }
}

fn ring(ring: &RingEvents) -> Ring {
    let source = match ring.source {
        (Some(Owner::Machine(machine)), _) => Source::Machine(machine),
        (Some(Owner::BlockOn), number) => Source::BlockOn(number),
        (Some(Owner::Closures), number) => Source::Closures(number),
        (None, _) => Source::Others,
    };
    let events = ring.events.iter().map(|&Timed { at, event }| perfetto::Timed { at, event: meaning(event) });
    Ring { source, events: events.collect(), missing: ring.missing, has_writer: ring.has_writer }
}

/// What the numbers of the event mean.
fn meaning(event: Event) -> Drawn {
    let Event { kind, subject, small, .. } = event;
    let (task, index) = (subject, usize::from(small));
    match kind {
        Kind::PollBegin => Drawn::PollBegin { task, place: small, is_root: false },
        Kind::RootBegin => Drawn::PollBegin { task, place: small, is_root: true },
        Kind::PollEnd => {
            let PollEnd { left, processor, is_root } = PollEnd::unpack(small);
            Drawn::PollEnd { task, left: left_as(left), processor, is_root }
        }
        Kind::LocalBegin => Drawn::LocalBegin { task, place: small },
        Kind::LocalEnd => Drawn::LocalEnd { task, left: left_as(PollEnd::unpack(small).left) },
        Kind::Wake => Drawn::Wake { task, place: (small > 0).then_some(small) },
        Kind::Spawn => Drawn::Spawn { task, place: small },
        Kind::Steal => Drawn::Steal { task, victim: index },
        Kind::Park => Drawn::Park { in_netpoll: small == 1 },
        Kind::Unpark => Drawn::Unpark { processor: index.checked_sub(1) },
        Kind::Acquire => Drawn::Acquire(index),
        Kind::Release => Drawn::Release(index),
        Kind::Take => {
            let Taken { processor, computes } = Taken::unpack(small);
            Drawn::Take { machine: subject as usize, processor, computes }
        }
        Kind::SectionBegin => Drawn::SectionBegin,
        Kind::SectionEnd => Drawn::SectionEnd,
        Kind::Timers => Drawn::Timers(small),
        Kind::Ready => Drawn::Ready(small),
        Kind::Mark => Drawn::Mark { task, name: small },
        Kind::Queues => Drawn::Queues { processor: index, own: subject & ((1 << 24) - 1), global: subject >> 24 },
        Kind::Lost => Drawn::Lost(subject),
        Kind::Sight => Drawn::Sight { task, sight: small },
    }
}

fn left_as(left: Left) -> perfetto::Left {
    match left {
        Left::Done => perfetto::Left::Done,
        Left::Waiting => perfetto::Left::Waiting,
        Left::Woken => perfetto::Left::Woken,
    }
}

impl Names for Recording {
    fn place(&self, number: u16) -> Option<Place> {
        let location = self.place_of(number)?;
        let (file, line) = (location.file(), location.line());
        Some(Place { file, line, title: in_report(file, line) })
    }

    fn mark(&self, number: u16) -> Option<&'static str> {
        self.name_of(number)
    }

    fn sight(&self, number: u16) -> Option<perfetto::Sight> {
        let sight: Sight = self.sight_of(number)?;
        Some(perfetto::Sight { call: sight.call(), caller: sight.caller(), frames: sight.frames() })
    }
}

/// A place as the blocked report names it.
fn in_report(file: &str, line: u32) -> String {
    format!("{}:{line}", short(file))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::in_report;

    #[test]
    fn a_place_in_a_published_crate_is_as_short_as_in_reports() {
        let registry = "/home/x/.cargo/registry/src/index-1949";
        assert_eq!(
            in_report(&format!("{registry}/axum-0.8.9/src/serve/mod.rs"), 389),
            "axum-0.8.9/src/serve/mod.rs:389"
        );
        assert_eq!(in_report("src/main.rs", 7), "src/main.rs:7");
    }
}
