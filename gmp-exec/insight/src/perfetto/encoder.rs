//! From what is drawn to packets.
//!
//! The numbers of fields are those of Perfetto's `trace_packet.proto`, `track_event.proto` and what
//! they include. Names and places come once, in the first packet, and events refer to them by
//! number.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use super::event::Left;
use super::item::{Item, Slice, Track, What};
use super::snapshot::{Place, Snapshot};
use super::timeline::{self, Carried};
use super::wire::Message;

/// Fields of `TracePacket`.
mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK: u32 = 60;
}

/// Fields of `TrackEvent`.
mod event {
    pub(super) const CATEGORY: u32 = 3;
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: u32 = 10;
    pub(super) const TRACK: u32 = 11;
    pub(super) const COUNTER: u32 = 30;
    pub(super) const LOCATION: u32 = 34;
    pub(super) const FLOW: u32 = 47;
    pub(super) const LAST_OF_FLOW: u32 = 48;
}

/// `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

const CATEGORIES: [&str; 5] = ["poll", "thread", "wake", "event", "local poll"];
const POLL: u64 = 1;
const THREAD: u64 = 2;
const WAKE: u64 = 3;
const EVENT: u64 = 4;
const LOCAL: u64 = 5;

const ANNOTATIONS: [&str; 8] = ["task", "left", "processor", "count", "resumed", "asleep in", "called", "stack"];
const TASK: u64 = 1;
const LEFT: u64 = 2;
const PROCESSOR: u64 = 3;
const COUNT: u64 = 4;
const RESUMED: u64 = 5;
const CALL: u64 = 6;
const CALLER: u64 = 7;
const STACK: u64 = 8;

/// Any number: all packets are of one sequence.
const SEQUENCE: u64 = 1;
const PROCESS_TRACK: u64 = 1;

/// Writes a snapshot.
///
/// # Errors
///
/// Fails if `out` does.
pub fn write(snapshot: &Snapshot<'_>, out: impl Write) -> io::Result<()> {
    write_items(snapshot, &timeline::items(snapshot), out)
}

/// Writes a part of a recording. The files of all parts, one after the other, are a trace again.
///
/// # Errors
///
/// Fails if `out` does.
pub fn write_part(part: &Snapshot<'_>, carried: &mut Carried, out: impl Write) -> io::Result<()> {
    write_items(part, &timeline::items_of_part(part, carried), out)
}

fn write_items(snapshot: &Snapshot<'_>, items: &[Item], mut out: impl Write) -> io::Result<()> {
    let mut encoder = Encoder { snapshot, names: HashMap::new(), out: &mut out };
    encoder.head(items)?;
    for item in items {
        encoder.item(item)?;
    }
    out.flush()
}

struct Encoder<'a, W> {
    snapshot: &'a Snapshot<'a>,
    /// Interned names.
    names: HashMap<String, u64>,
    out: &'a mut W,
}

impl<W: Write> Encoder<'_, W> {
    /// Everything that events refer to.
    fn head(&mut self, items: &[Item]) -> io::Result<()> {
        let mut interned = Message::default();
        for (number, name) in (1..).zip(CATEGORIES) {
            interned.message(1, |entry| intern(entry, number, name));
        }
        for (number, name) in (1..).zip(ANNOTATIONS) {
            interned.message(3, |entry| intern(entry, number, name));
        }
        let names: BTreeSet<String> = items.iter().filter_map(|item| self.name_of(item.what)).collect();
        for (number, name) in (1..).zip(names) {
            interned.message(2, |entry| intern(entry, number, &name));
            self.names.insert(name, number);
        }
        self.places(items, &mut interned);
        // The first flag: the sequence begins here.
        self.packet(|packet| {
            packet.uint(packet::SEQUENCE_FLAGS, 3).message(packet::INTERNED, |message| message.append(&interned));
        })?;
        self.tracks(items)
    }

    fn places(&self, items: &[Item], interned: &mut Message) {
        let places: BTreeSet<u16> = items.iter().filter_map(|item| place_of(item.what)).collect();
        for place in places {
            let Some(Place { file, line, .. }) = self.snapshot.names.place(place) else { continue };
            interned.message(4, |entry| {
                entry.uint(1, place.into()).text(2, file).uint(4, line.into());
            });
        }
    }

    fn tracks(&mut self, items: &[Item]) -> io::Result<()> {
        let name = self.snapshot.name.unwrap_or("gmp");
        self.packet(|packet| {
            packet.message(packet::TRACK, |track| {
                track.uint(1, PROCESS_TRACK).uint(11, 3).message(3, |process| {
                    let label = format!("recording {}", self.snapshot.recording);
                    process.uint(1, std::process::id().into()).text(6, name).text(8, &label);
                });
            });
        })?;
        let mut tracks: BTreeSet<Track> = items.iter().map(|item| item.track).collect();
        tracks.extend((0..self.snapshot.processors).map(Track::Processor));
        for (rank, track) in (1..).zip(tracks) {
            self.packet(|packet| {
                packet.message(packet::TRACK, |message| {
                    message.uint(1, uuid(track)).uint(5, PROCESS_TRACK).text(2, &title(track)).uint(12, rank);
                    if is_counter(track) {
                        message.message(8, |_| {});
                    }
                });
            })?;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> io::Result<()> {
        let name = self.name_of(item.what).and_then(|name| self.names.get(&name).copied());
        let sight = self.sight_of(item.what);
        self.packet(|packet| {
            packet.uint(packet::TIMESTAMP, item.at).uint(packet::SEQUENCE_FLAGS, 2);
            packet.message(packet::TRACK_EVENT, |message| {
                message.uint(event::TRACK, uuid(item.track));
                if let Some(name) = name {
                    message.uint(event::NAME, name);
                }
                fill(message, item.what);
                message.append(&sight);
                if let Some(place) = place_of(item.what).filter(|place| *place > 0) {
                    message.uint(event::LOCATION, place.into());
                }
            });
        })
    }

    fn packet(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let mut trace = Message::default();
        trace.message(1, |packet| {
            packet.uint(packet::SEQUENCE, SEQUENCE);
            fill(packet);
        });
        self.out.write_all(trace.as_bytes())
    }

    /// `None`: the end of a slice, and a number, have no name.
    fn name_of(&self, what: What) -> Option<String> {
        Some(match what {
            What::Begin { slice, .. } => self.slice_name(slice),
            What::Wake { place: Some(place), .. } => format!("spawn {}", self.place_name(place)),
            What::Wake { place: None, .. } => "wake".to_owned(),
            What::Steal { victim, .. } => format!("stolen from P{victim}"),
            What::Take { processor, computes: false } => format!("P{processor} taken: the thread sleeps"),
            What::Take { processor, computes: true } => format!("P{processor} taken: the thread computes"),
            What::Timers(_) => "timers".to_owned(),
            What::Ready(_) => "ready".to_owned(),
            What::Mark { name, .. } => self.snapshot.names.mark(name).unwrap_or("mark").to_owned(),
            What::Lost(_) => "events lost".to_owned(),
            What::Complete => "complete from here".to_owned(),
            What::PartBegins => "file begins".to_owned(),
            What::Snapshot => "snapshot".to_owned(),
            What::End { .. } | What::Cut | What::Interrupted | What::Number(_) => return None,
        })
    }

    /// What was seen of the thread, as annotations.
    fn sight_of(&self, what: What) -> Message {
        let mut message = Message::default();
        let What::Begin { sight, .. } = what else { return message };
        if let Some(sight) = self.snapshot.names.sight(sight) {
            sight.call.iter().for_each(|call| text(&mut message, CALL, call));
            sight.caller.iter().for_each(|caller| text(&mut message, CALLER, caller));
            texts(&mut message, STACK, &sight.frames);
        }
        message
    }

    fn slice_name(&self, slice: Slice) -> String {
        match slice {
            Slice::Poll { place, is_root: true, .. } => format!("block_on {}", self.place_name(place)),
            Slice::Poll { place, .. } | Slice::Local { place, .. } => self.place_name(place),
            Slice::Holds(processor) => format!("P{processor}"),
            Slice::Section { .. } => "blocking section".to_owned(),
            Slice::Parked => "parked".to_owned(),
            Slice::InNetpoll => "in the netpoll".to_owned(),
        }
    }

    fn place_name(&self, place: u16) -> String {
        self.snapshot.names.place(place).map_or_else(|| "task".to_owned(), |place| place.title)
    }
}

fn intern(entry: &mut Message, number: u64, name: &str) {
    entry.uint(1, number).text(2, name);
}

fn place_of(what: What) -> Option<u16> {
    match what {
        What::Begin { slice, .. } => match slice {
            Slice::Poll { place, .. } | Slice::Local { place, .. } | Slice::Section { place, .. } => Some(place),
            Slice::Holds(_) | Slice::Parked | Slice::InNetpoll => None,
        },
        What::Wake { place, .. } => place,
        _ => None,
    }
}

fn fill(message: &mut Message, what: What) {
    let head = |message: &mut Message, kind: Type, category: u64| {
        message.uint(event::TYPE, kind as u64).uint(event::CATEGORY, category);
    };
    match what {
        What::Begin { slice, flow, is_resumed, .. } => {
            head(message, Type::Begin, category(slice));
            task_of(message, slice);
            if is_resumed {
                number(message, RESUMED, 1);
            }
            if let Some(flow) = flow {
                message.fixed(event::LAST_OF_FLOW, flow);
            }
        }
        What::End { left } => {
            message.uint(event::TYPE, Type::End as u64);
            if let Some(left) = left {
                text(message, LEFT, left_name(left));
            }
        }
        What::Cut => {
            message.uint(event::TYPE, Type::End as u64);
            text(message, LEFT, "cut");
        }
        What::Interrupted => {
            message.uint(event::TYPE, Type::End as u64);
            text(message, LEFT, "lost");
        }
        What::Complete | What::PartBegins | What::Snapshot => head(message, Type::Instant, EVENT),
        What::Lost(count) => {
            head(message, Type::Instant, EVENT);
            number(message, COUNT, count);
        }
        What::Wake { task, flow, .. } => {
            head(message, Type::Instant, WAKE);
            number(message, TASK, task);
            if let Some(flow) = flow {
                message.fixed(event::FLOW, flow);
            }
        }
        What::Steal { task, victim } => {
            head(message, Type::Instant, EVENT);
            number(message, TASK, task);
            number(message, PROCESSOR, victim as u64);
        }
        What::Take { processor, .. } => {
            head(message, Type::Instant, EVENT);
            number(message, PROCESSOR, processor as u64);
        }
        What::Timers(count) | What::Ready(count) => {
            head(message, Type::Instant, EVENT);
            number(message, COUNT, count.into());
        }
        What::Mark { task, .. } => {
            head(message, Type::Instant, EVENT);
            number(message, TASK, task);
        }
        What::Number(value) => {
            message.uint(event::TYPE, Type::Counter as u64).uint(event::COUNTER, value);
        }
    }
}

fn category(slice: Slice) -> u64 {
    match slice {
        Slice::Poll { .. } => POLL,
        Slice::Local { .. } => LOCAL,
        Slice::Holds(_) | Slice::Section { .. } | Slice::Parked | Slice::InNetpoll => THREAD,
    }
}

fn task_of(message: &mut Message, slice: Slice) {
    if let Slice::Poll { task, .. } | Slice::Local { task, .. } | Slice::Section { task, .. } = slice {
        number(message, TASK, task);
    }
}

fn text(message: &mut Message, name: u64, value: &str) {
    message.message(event::ANNOTATION, |annotation| {
        annotation.uint(1, name).text(6, value);
    });
}

/// A list, unless it is empty.
fn texts(message: &mut Message, name: u64, values: &[String]) {
    if !values.is_empty() {
        message.message(event::ANNOTATION, |annotation| {
            annotation.uint(1, name);
            for value in values {
                annotation.message(12, |entry| {
                    entry.text(6, value);
                });
            }
        });
    }
}

fn number(message: &mut Message, name: u64, value: u64) {
    message.message(event::ANNOTATION, |annotation| {
        annotation.uint(1, name).uint(3, value);
    });
}

fn left_name(left: Left) -> &'static str {
    match left {
        Left::Done => "done",
        Left::Waiting => "waiting",
        Left::Woken => "woken",
    }
}

fn uuid(track: Track) -> u64 {
    match track {
        Track::Others => 2,
        Track::IdleProcessors => 3,
        Track::Tasks => 4,
        Track::GlobalQueue => 5,
        Track::Processor(index) => 1 << 32 | index as u64,
        Track::Queue(index) => 2 << 32 | index as u64,
        Track::Machine(machine) => 3 << 32 | machine as u64,
        Track::Gone => 6,
        Track::BlockOn(number) => 4 << 32 | number as u64,
        Track::Closures(number) => 5 << 32 | number as u64,
    }
}

fn title(track: Track) -> String {
    match track {
        Track::Others => "other threads".to_owned(),
        Track::Gone => "threads that have ended".to_owned(),
        Track::IdleProcessors => "idle processors".to_owned(),
        Track::Tasks => "tasks".to_owned(),
        Track::GlobalQueue => "global queue".to_owned(),
        Track::Processor(index) => format!("P{index}"),
        Track::Queue(index) => format!("queue of P{index}"),
        Track::Machine(machine) => format!("M{machine}"),
        Track::BlockOn(number) => format!("block_on {number}"),
        Track::Closures(number) => format!("closures {number}"),
    }
}

fn is_counter(track: Track) -> bool {
    matches!(track, Track::IdleProcessors | Track::Tasks | Track::GlobalQueue | Track::Queue(_))
}
