//! From packets to events.

use std::collections::HashMap;

use anyhow::Result;

use super::event::{Begin, Event, Left, Name, Names, SliceKind, Track, TrackKind, What};
use super::wire::{Field, fields};

/// What a packet says.
#[derive(Debug)]
pub(super) enum Packet {
    /// A file begins: what was said of names and tracks before is over.
    FileBegins,
    Recording(Recording),
    Event(Event),
    Nothing,
}

/// Which recording a file is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recording {
    pub(super) process: u64,
    /// Tells recordings of one process, and of processes with the same number, apart.
    label: String,
}

/// The names and the tracks of a file.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) names: Names,
    tracks: HashMap<u64, Track>,
    event_names: HashMap<u64, (Name, Meaning)>,
    categories: HashMap<u64, Category>,
    annotations: HashMap<u64, Annotation>,
    /// How many processors the runtime has.
    pub(super) processors: usize,
}

/// What the name of an event means.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Section,
    Take { sleeps: bool },
    Steal(Name),
    Lost,
    Complete,
    Snapshot,
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Category {
    Poll,
    Local,
    Wake,
    Other,
}

#[derive(Clone, Copy, Debug)]
enum Annotation {
    Task,
    Left,
    Processor,
    Count,
    Resumed,
    AsleepIn,
    Called,
}

/// A `TrackEvent`.
#[derive(Default)]
struct TrackEvent {
    kind: u64,
    track: u64,
    name: u64,
    category: u64,
    flow: Option<u64>,
    last_of_flow: Option<u64>,
    task: Option<u64>,
    left: Option<Left>,
    has_processor: bool,
    count: u64,
    is_resumed: bool,
    asleep_in: Option<Name>,
    called: Option<Name>,
}

impl Decoder {
    /// # Errors
    ///
    /// The packet is damaged.
    pub(super) fn packet(&mut self, packet: &[u8]) -> Result<Packet> {
        let (mut at, mut decoded) = (0, Packet::Nothing);
        for field in fields(packet) {
            let Field { number, value } = field?;
            match number {
                8 => at = value.number(),
                11 => {
                    let event = self.track_event(value.bytes())?;
                    decoded = self.event(at, &event).map_or(Packet::Nothing, Packet::Event);
                }
                12 => self.interned(value.bytes())?,
                13 if value.number() & 1 == 1 => {
                    self.forget();
                    decoded = Packet::FileBegins;
                }
                60 => decoded = self.track(value.bytes())?,
                _ => {}
            }
        }
        Ok(decoded)
    }

    fn forget(&mut self) {
        self.tracks.clear();
        self.event_names.clear();
        self.categories.clear();
        self.annotations.clear();
        self.processors = 0;
    }

    fn track(&mut self, track: &[u8]) -> Result<Packet> {
        let (mut uuid, mut title, mut recording) = (0, String::new(), Packet::Nothing);
        for field in fields(track) {
            let Field { number, value } = field?;
            match number {
                1 => uuid = value.number(),
                2 => title = value.text(),
                3 => recording = Packet::Recording(process(value.bytes())?),
                _ => {}
            }
        }
        let kind = TrackKind::of(&title);
        self.processors += usize::from(kind == TrackKind::Processor);
        self.tracks.insert(uuid, Track { title: self.names.name(title), kind });
        Ok(recording)
    }

    fn interned(&mut self, interned: &[u8]) -> Result<()> {
        for field in fields(interned) {
            let Field { number, value } = field?;
            let (mut iid, mut text) = (0, String::new());
            for field in fields(value.bytes()) {
                let Field { number, value } = field?;
                match number {
                    1 => iid = value.number(),
                    2 => text = value.text(),
                    _ => {}
                }
            }
            match number {
                1 => drop(self.categories.insert(iid, category(&text))),
                2 => self.event_name(iid, text),
                3 => self.annotations.extend(annotation(&text).map(|annotation| (iid, annotation))),
                _ => {}
            }
        }
        Ok(())
    }

    fn event_name(&mut self, iid: u64, text: String) {
        let meaning = match &*text {
            "blocking section" => Meaning::Section,
            "events lost" => Meaning::Lost,
            "complete from here" => Meaning::Complete,
            "snapshot" => Meaning::Snapshot,
            _ if text.ends_with(" taken: the thread sleeps") => Meaning::Take { sleeps: true },
            _ if text.ends_with(" taken: the thread computes") => Meaning::Take { sleeps: false },
            _ => match text.strip_prefix("stolen from ") {
                Some(victim) => Meaning::Steal(self.names.name(victim.to_owned())),
                None => Meaning::Plain,
            },
        };
        self.event_names.insert(iid, (self.names.name(text), meaning));
    }

    fn track_event(&mut self, bytes: &[u8]) -> Result<TrackEvent> {
        let mut event = TrackEvent::default();
        for field in fields(bytes) {
            let Field { number, value } = field?;
            match number {
                3 => event.category = value.number(),
                4 => self.annotation(value.bytes(), &mut event)?,
                9 => event.kind = value.number(),
                10 => event.name = value.number(),
                11 => event.track = value.number(),
                47 => event.flow = Some(value.number()),
                48 => event.last_of_flow = Some(value.number()),
                _ => {}
            }
        }
        Ok(event)
    }

    fn annotation(&mut self, bytes: &[u8], event: &mut TrackEvent) -> Result<()> {
        let (mut name, mut number_of, mut text) = (0, None, None);
        for field in fields(bytes) {
            let Field { number, value } = field?;
            match number {
                1 => name = value.number(),
                3 => number_of = Some(value.number()),
                6 => text = Some(value),
                _ => {}
            }
        }
        let text = || text.map_or_else(String::new, |text| text.text());
        match self.annotations.get(&name) {
            Some(Annotation::Task) => event.task = number_of,
            Some(Annotation::Left) => event.left = Some(left(&text())),
            Some(Annotation::Processor) => event.has_processor = true,
            Some(Annotation::Count) => event.count = number_of.unwrap_or(0),
            Some(Annotation::Resumed) => event.is_resumed = true,
            Some(Annotation::AsleepIn) => event.asleep_in = Some(self.names.name(text())),
            Some(Annotation::Called) => event.called = Some(self.names.name(text())),
            None => {}
        }
        Ok(())
    }

    /// `None`: a number, or an event on a track that the file doesn't name.
    fn event(&mut self, at: u64, event: &TrackEvent) -> Option<Event> {
        let track = *self.tracks.get(&event.track)?;
        let what = match event.kind {
            1 => What::Begin(self.begin(event)),
            2 => What::End(event.left.unwrap_or(Left::GoesOn)),
            3 => self.instant(event),
            _ => return None,
        };
        Some(Event { at, track, what })
    }

    fn begin(&mut self, event: &TrackEvent) -> Begin {
        let (name, meaning) = self.name_of(event);
        let kind = match (self.categories.get(&event.category), meaning) {
            (Some(Category::Poll), _) => SliceKind::Poll,
            (Some(Category::Local), _) => SliceKind::Local,
            (_, Meaning::Section) => SliceKind::Section,
            _ => SliceKind::Other,
        };
        let TrackEvent { task, last_of_flow: flow, is_resumed, asleep_in, called, .. } = *event;
        Begin { kind, name, task, flow, is_resumed, asleep_in, called }
    }

    fn instant(&mut self, event: &TrackEvent) -> What {
        if self.categories.get(&event.category) == Some(&Category::Wake) {
            return What::Wake(event.flow);
        }
        // A program's own marks have a task, and any name.
        match (self.name_of(event), event.task.is_some(), event.has_processor) {
            ((_, Meaning::Steal(victim)), true, true) => What::Steal(victim),
            ((name, Meaning::Take { sleeps }), false, true) => What::Take { name, sleeps },
            ((_, Meaning::Lost), false, false) => What::Lost(event.count),
            ((_, Meaning::Complete), false, false) => What::Complete,
            ((_, Meaning::Snapshot), false, false) => What::Snapshot,
            ((name, _), ..) => What::Other(name),
        }
    }

    fn name_of(&mut self, event: &TrackEvent) -> (Name, Meaning) {
        let known = self.event_names.get(&event.name).copied();
        known.unwrap_or_else(|| (self.names.name(String::new()), Meaning::Plain))
    }
}

fn process(process: &[u8]) -> Result<Recording> {
    let mut recording = Recording { process: 0, label: String::new() };
    for field in fields(process) {
        let Field { number, value } = field?;
        match number {
            1 => recording.process = value.number(),
            8 => recording.label = value.text(),
            _ => {}
        }
    }
    Ok(recording)
}

fn category(text: &str) -> Category {
    match text {
        "poll" => Category::Poll,
        "local poll" => Category::Local,
        "wake" => Category::Wake,
        _ => Category::Other,
    }
}

fn annotation(text: &str) -> Option<Annotation> {
    Some(match text {
        "task" => Annotation::Task,
        "left" => Annotation::Left,
        "processor" => Annotation::Processor,
        "count" => Annotation::Count,
        "resumed" => Annotation::Resumed,
        "asleep in" => Annotation::AsleepIn,
        "called" => Annotation::Called,
        _ => return None,
    })
}

fn left(text: &str) -> Left {
    match text {
        "cut" => Left::Cut,
        "lost" => Left::Lost,
        _ => Left::Over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message in protobuf's encoding: numbers, texts and messages by field.
    #[derive(Default)]
    struct Message(Vec<u8>);

    impl Message {
        fn number(mut self, field: u8, value: u8) -> Message {
            self.tag(field, 0);
            self.0.push(value);
            self
        }

        fn bytes(mut self, field: u8, bytes: &[u8]) -> Message {
            self.tag(field, 2);
            self.0.push(bytes.len() as u8);
            self.0.extend(bytes);
            self
        }

        fn tag(&mut self, field: u8, kind: u8) {
            let tag = u16::from(field) << 3 | u16::from(kind);
            if tag < 0x80 { self.0.push(tag as u8) } else { self.0.extend([tag as u8 | 0x80, (tag >> 7) as u8]) }
        }
    }

    fn interned(field: u8, iid: u8, name: &str) -> Vec<u8> {
        let entry = Message::default().number(1, iid).bytes(2, name.as_bytes());
        Message::default().bytes(12, &Message::default().bytes(field, &entry.0).0).0
    }

    fn track(title: &str) -> Vec<u8> {
        let track = Message::default().number(1, 7).bytes(2, title.as_bytes());
        Message::default().bytes(60, &track.0).0
    }

    fn instant(name: u8, annotation: u8) -> Vec<u8> {
        let annotation = Message::default().number(1, annotation).number(3, 5);
        let event = Message::default().number(9, 3).number(11, 7).number(10, name).bytes(4, &annotation.0);
        Message::default().number(8, 1).bytes(11, &event.0).0
    }

    fn event(decoder: &mut Decoder, packet: &[u8]) -> Event {
        let Packet::Event(event) = decoder.packet(packet).unwrap() else { panic!("no event") };
        event
    }

    #[test]
    fn a_foreign_name_is_in_one_line() {
        let mut decoder = Decoder::default();
        decoder.packet(&track("P0 Größe\n  99 %\u{1b}[31m")).unwrap();
        decoder.packet(&interned(2, 1, "a\nb")).unwrap();
        let event = event(&mut decoder, &instant(1, 0));
        assert_eq!(decoder.names.text(event.track.title), r"P0 Größe\n  99 %\u{1b}[31m");
        let What::Other(name) = event.what else { panic!("{event:?}") };
        assert_eq!(decoder.names.text(name), r"a\nb");
    }

    /// A program's own marks may have any name.
    #[test]
    fn a_mark_is_not_taken_for_what_the_recorder_says() {
        let mut decoder = Decoder::default();
        decoder.packet(&track("M1")).unwrap();
        for (iid, name) in [(1, "task"), (2, "count"), (3, "processor")] {
            decoder.packet(&interned(3, iid, name)).unwrap();
        }
        for (iid, name) in [(1, "events lost"), (2, "P0 taken: the thread sleeps"), (3, "complete from here")] {
            decoder.packet(&interned(2, iid, name)).unwrap();
            assert!(matches!(event(&mut decoder, &instant(iid, 1)).what, What::Other(_)), "{name}");
        }
        assert!(matches!(event(&mut decoder, &instant(1, 2)).what, What::Lost(5)));
        assert!(matches!(event(&mut decoder, &instant(2, 3)).what, What::Take { sleeps: true, .. }));
        assert!(matches!(event(&mut decoder, &instant(3, 0)).what, What::Complete));
    }

    #[test]
    fn a_damaged_packet_is_an_error() {
        assert!(Decoder::default().packet(&[0x5a, 9, 0]).is_err());
    }
}
