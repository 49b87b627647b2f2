//! What is in a trace that gmp's recorder has written: slices and instants on tracks.

use std::collections::HashMap;

use anyhow::{Result, ensure};

use super::wire::{Field, fields};

#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) slices: Vec<Slice>,
    pub(super) instants: Vec<Instant>,
    /// The first and the last moment, in nanoseconds.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) processors: usize,
    /// By number: the moment of the wake-up, and the index of the slice of the poll.
    pub(super) wakes: HashMap<u64, u64>,
    pub(super) polls_of: HashMap<u64, usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) track: String,
    pub(super) is_poll: bool,
    pub(super) name: String,
    pub(super) task: Option<u64>,
    pub(super) begin: u64,
    /// The end of the trace, if the slice had not ended.
    pub(super) end: u64,
    pub(super) has_ended: bool,
    /// Ended because the processor was taken or given away.
    pub(super) goes_on: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Instant {
    pub(super) track: String,
    pub(super) name: String,
    pub(super) at: u64,
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
    pub(super) fn read(bytes: &[u8]) -> Result<Trace> {
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
    is_left: bool,
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
        let (mut name, mut number_of) = ("", None);
        for field in fields(bytes) {
            let Field { number, value } = field?;
            match number {
                1 => name = self.annotations.get(&value.number()).map_or("", |name| name),
                3 => number_of = Some(value.number()),
                _ => {}
            }
        }
        match name {
            "task" => event.task = number_of,
            "left" => event.is_left = true,
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
                self.open.entry(event.track).or_default().push(trace.slices.len());
                trace.slices.push(Slice {
                    track,
                    is_poll: event.category == "poll",
                    name: event.name,
                    task: event.task,
                    begin: at,
                    end: at,
                    has_ended: false,
                    goes_on: false,
                });
            }
            2 => {
                if let Some(index) = self.open.get_mut(&event.track).and_then(Vec::pop) {
                    let slice = &mut trace.slices[index];
                    (slice.end, slice.has_ended) = (at, true);
                    slice.goes_on = slice.is_poll && slice.is_on_processor() && !event.is_left;
                }
            }
            3 => trace.instants.push(Instant { track, name: event.name, at }),
            _ => {}
        }
    }
}
