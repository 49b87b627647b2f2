//! A trace that gmp's recorder has written: slices and instants on tracks.

use std::collections::HashMap;

use anyhow::{Result, ensure};

use super::wire::{Field, fields};

/// What a file has recorded. Moments are in nanoseconds of the recorder's clock.
#[derive(Debug, Default)]
pub struct Trace {
    /// In the order of their beginnings on each track.
    pub slices: Vec<Slice>,
    /// What happened at one moment.
    pub instants: Vec<Instant>,
    /// The first moment.
    pub begin: u64,
    /// The last moment.
    pub end: u64,
    /// How many processors the runtime has.
    pub processors: usize,
    /// Events that are missing.
    pub lost: u64,
    /// The moments after which they are.
    pub(super) gaps: Vec<u64>,
    /// The moments of wake-ups, by number.
    pub(super) wakes: HashMap<u64, u64>,
    /// The index of the slice of the poll that a wake-up led to, by the wake-up's number.
    pub(super) polls_of: HashMap<u64, usize>,
}

/// What went on for a while: a poll, or what a machine did.
#[derive(Clone, Debug)]
pub struct Slice {
    /// `P0` for a processor, `M1` for a machine.
    pub track: String,
    /// A poll; on the track of a machine: one that went on without a processor.
    pub is_poll: bool,
    /// A poll of a task of a `LocalSet`, inside a poll.
    pub is_local: bool,
    /// Where a polled task was spawned, or what a machine did: `P0` while it held that processor.
    pub name: String,
    /// The id of the polled task.
    pub task: Option<u64>,
    /// The moment of the beginning.
    pub begin: u64,
    /// The end of the trace, if the slice had not ended.
    pub end: u64,
    /// Whether it had.
    pub has_ended: bool,
    /// Ended because the processor was taken or given away.
    pub goes_on: bool,
    /// Goes on in the next file, which is not there.
    pub is_cut: bool,
    /// What the thread did in the kernel.
    pub asleep_in: Option<String>,
    /// The line that had called that.
    pub called: Option<String>,
}

/// What happened at one moment.
#[derive(Clone, Debug)]
pub struct Instant {
    /// As a slice's.
    pub track: String,
    /// What happened; a user's mark has the name that the program gave it.
    pub name: String,
    /// The moment.
    pub at: u64,
}

impl Slice {
    pub(super) fn length(&self) -> u64 {
        self.end - self.begin
    }

    pub(super) fn is_on_processor(&self) -> bool {
        self.track.starts_with('P')
    }
}

impl Trace {
    /// Reads a file, or several files of one recording after each other.
    ///
    /// # Errors
    ///
    /// It is cut off, or not a file of gmp's recorder.
    pub fn read(bytes: &[u8]) -> Result<Trace> {
        let mut reader = Reader::default();
        for packet in fields(bytes) {
            let packet = packet?;
            ensure!(packet.number == 1, "field {} is not a packet", packet.number);
            reader.packet(packet.value.bytes())?;
        }
        let mut trace = reader.trace;
        ensure!(!reader.tracks.is_empty(), "it has no tracks");
        for slice in trace.slices.iter_mut().filter(|slice| !slice.has_ended) {
            slice.end = trace.end;
        }
        let is_processor = |name: &&String| name.strip_prefix('P').is_some_and(|index| index.parse::<u32>().is_ok());
        trace.processors = reader.tracks.values().filter(is_processor).count();
        Ok(trace)
    }
}

#[derive(Default)]
struct Reader {
    trace: Trace,
    tracks: HashMap<u64, String>,
    names: HashMap<u64, String>,
    categories: HashMap<u64, String>,
    annotations: HashMap<u64, String>,
    /// Slices that have not ended, by track.
    open: HashMap<u64, Vec<usize>>,
    /// The slice that the end of a file has cut, by track.
    cut: HashMap<u64, usize>,
    is_begun: bool,
}

/// A `TrackEvent`.
#[derive(Default)]
struct Event {
    kind: u64,
    track: u64,
    name: String,
    category: String,
    task: Option<u64>,
    left: Option<String>,
    is_resumed: bool,
    count: u64,
    asleep_in: Option<String>,
    called: Option<String>,
    flow: Option<u64>,
    last_of_flow: Option<u64>,
}

impl Reader {
    fn packet(&mut self, packet: &[u8]) -> Result<()> {
        let (mut at, mut event) = (0, None);
        for field in fields(packet) {
            let Field { number, value } = field?;
            match number {
                8 => at = value.number(),
                11 => event = Some(value.bytes()),
                12 => self.interned(value.bytes())?,
                60 => self.track(value.bytes())?,
                _ => {}
            }
        }
        match event {
            Some(event) => {
                let event = self.event(event)?;
                self.add(at, event);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn track(&mut self, track: &[u8]) -> Result<()> {
        let (mut uuid, mut title) = (0, String::new());
        for field in fields(track) {
            let Field { number, value } = field?;
            match number {
                1 => uuid = value.number(),
                2 => title = value.text(),
                _ => {}
            }
        }
        self.tracks.insert(uuid, title);
        Ok(())
    }

    fn interned(&mut self, interned: &[u8]) -> Result<()> {
        for field in fields(interned) {
            let Field { number, value } = field?;
            let table = match number {
                1 => &mut self.categories,
                2 => &mut self.names,
                3 => &mut self.annotations,
                _ => continue,
            };
            let (mut iid, mut name) = (0, String::new());
            for field in fields(value.bytes()) {
                let Field { number, value } = field?;
                match number {
                    1 => iid = value.number(),
                    2 => name = value.text(),
                    _ => {}
                }
            }
            table.insert(iid, name);
        }
        Ok(())
    }

    fn event(&self, bytes: &[u8]) -> Result<Event> {
        let mut event = Event::default();
        let name_in = |table: &HashMap<u64, String>, iid| table.get(&iid).cloned().unwrap_or_default();
        for field in fields(bytes) {
            let Field { number, value } = field?;
            match number {
                3 => event.category = name_in(&self.categories, value.number()),
                4 => self.annotation(value.bytes(), &mut event)?,
                9 => event.kind = value.number(),
                10 => event.name = name_in(&self.names, value.number()),
                11 => event.track = value.number(),
                47 => event.flow = Some(value.number()),
                48 => event.last_of_flow = Some(value.number()),
                _ => {}
            }
        }
        Ok(event)
    }

    fn annotation(&self, bytes: &[u8], event: &mut Event) -> Result<()> {
        let (mut name, mut number_of, mut text) = ("", None, String::new());
        for field in fields(bytes) {
            let Field { number, value } = field?;
            match number {
                1 => name = self.annotations.get(&value.number()).map_or("", |name| name),
                3 => number_of = Some(value.number()),
                6 => text = value.text(),
                _ => {}
            }
        }
        match name {
            "task" => event.task = number_of,
            "left" => event.left = Some(text),
            "count" => event.count = number_of.unwrap_or(0),
            "asleep in" => event.asleep_in = Some(text),
            "called" => event.called = Some(text),
            "resumed" => event.is_resumed = true,
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self, at: u64, event: Event) {
        let trace = &mut self.trace;
        if !std::mem::replace(&mut self.is_begun, true) {
            trace.begin = at;
        }
        trace.end = trace.end.max(at);
        let track = self.tracks.get(&event.track).cloned().unwrap_or_default();
        if let Some(flow) = event.flow {
            trace.wakes.insert(flow, at);
        }
        match event.kind {
            1 => {
                if let Some(flow) = event.last_of_flow {
                    trace.polls_of.insert(flow, trace.slices.len());
                }
                let open = self.open.entry(event.track).or_default();
                let cut = self.cut.remove(&event.track).filter(|_| event.is_resumed);
                if let Some(index) = cut.filter(|index| trace.slices[*index].end == at) {
                    (trace.slices[index].has_ended, trace.slices[index].is_cut) = (false, false);
                    return open.push(index);
                }
                open.push(trace.slices.len());
                trace.slices.push(Slice {
                    track,
                    is_poll: event.category == "poll",
                    is_local: event.category == "local poll",
                    name: event.name,
                    task: event.task,
                    begin: at,
                    end: at,
                    has_ended: false,
                    goes_on: false,
                    is_cut: false,
                    asleep_in: event.asleep_in,
                    called: event.called,
                });
            }
            2 => {
                if let Some(index) = self.open.get_mut(&event.track).and_then(Vec::pop) {
                    let slice = &mut trace.slices[index];
                    (slice.end, slice.has_ended) = (at, true);
                    slice.goes_on = slice.is_poll && slice.is_on_processor() && event.left.is_none();
                    if event.left.as_deref() == Some("cut") {
                        slice.is_cut = true;
                        self.cut.insert(event.track, index);
                    }
                }
            }
            3 if event.name == "events lost" => {
                trace.lost += event.count;
                trace.gaps.push(at);
            }
            3 => trace.instants.push(Instant { track, name: event.name, at }),
            _ => {}
        }
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

    fn packet(packet: Message) -> Vec<u8> {
        Message::default().bytes(1, &packet.0).0
    }

    fn interned(field: u8, iid: u8, name: &str) -> Vec<u8> {
        let entry = Message::default().number(1, iid).bytes(2, name.as_bytes());
        packet(Message::default().bytes(12, &Message::default().bytes(field, &entry.0).0))
    }

    fn event(at: u8, kind: u8, annotation: Message) -> Vec<u8> {
        let event = Message::default().number(9, kind).number(11, 7).number(3, 1).bytes(4, &annotation.0);
        packet(Message::default().number(8, at).bytes(11, &event.0))
    }

    /// A file with one slice, from one moment to another.
    fn file(is_resumed: bool, from: u8, to: u8, left: &str) -> Vec<u8> {
        let begin = if is_resumed { Message::default().number(1, 2).number(3, 1) } else { Message::default() };
        let names = [interned(1, 1, "poll"), interned(3, 1, "left"), interned(3, 2, "resumed")].concat();
        let track = packet(Message::default().bytes(60, &Message::default().number(1, 7).bytes(2, b"P0").0));
        let end = event(to, 2, Message::default().number(1, 1).bytes(6, left.as_bytes()));
        [names, track, event(from, 1, begin), end].concat()
    }

    fn slices(files: &[Vec<u8>]) -> Vec<(u64, u64, bool)> {
        let trace = Trace::read(&files.concat()).unwrap();
        trace.slices.into_iter().map(|slice| (slice.begin, slice.end, slice.is_cut)).collect()
    }

    #[test]
    fn a_foreign_name_is_in_one_line() {
        let names = [interned(1, 1, "poll"), interned(3, 1, "called")].concat();
        let track = "P0 Größe\n  99 %\u{1b}[31m".as_bytes();
        let track = packet(Message::default().bytes(60, &Message::default().number(1, 7).bytes(2, track).0));
        let begin = event(1, 1, Message::default().number(1, 1).bytes(6, b"at a\n.rs"));
        let trace = Trace::read(&[names, track, begin, event(2, 2, Message::default())].concat()).unwrap();
        let report = crate::trace::report::report(&trace);
        assert!(report.contains(r"P0 Größe\n  99 %\u{1b}[31m"), "{report}");
        assert_eq!(trace.slices[0].called.as_deref(), Some(r"at a\n.rs"));
    }

    #[test]
    fn a_slice_that_a_file_has_cut_goes_on_in_the_next() {
        let [first, second] = [file(false, 1, 5, "cut"), file(true, 5, 9, "done")];
        assert_eq!(slices(&[first.clone(), second.clone()]), [(1, 9, false)]);
        assert_eq!(slices(std::slice::from_ref(&first)), [(1, 5, true)]);
        assert_eq!(slices(&[second]), [(5, 9, false)]);
        let later = file(true, 6, 9, "done");
        assert_eq!(slices(&[first.clone(), later]), [(1, 5, true), (6, 9, false)], "the next file is missing");
        assert_eq!(slices(&[first, file(false, 5, 9, "done")]), [(1, 5, true), (5, 9, false)]);
    }
}
