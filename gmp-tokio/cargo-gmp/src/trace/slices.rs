//! The slices of a recording, for programs that draw them.

use std::collections::HashMap;

use anyhow::{Result, ensure};

use super::decode::{Decoder, Packet};
use super::event::{Event, SliceKind, Track, What};
use super::packets::{End, Packets};

/// What a file has recorded. Moments are in nanoseconds of the recorder's clock.
#[derive(Debug, Default)]
pub struct Trace {
    /// In the order of their beginnings.
    pub slices: Vec<Slice>,
    /// What happened at one moment.
    pub instants: Vec<Instant>,
}

/// What went on for a while: a poll, or what a machine did.
#[derive(Clone, Debug)]
pub struct Slice {
    /// `P0` for a processor, `M1` for a machine.
    pub track: String,
    /// A poll; on the track of a machine: one that went on without a processor.
    pub is_poll: bool,
    /// Where a polled task was spawned, or what a machine did: `P0` while it held that processor.
    pub name: String,
    /// The moment of the beginning.
    pub begin: u64,
    /// The end of the trace, if the slice had not ended.
    pub end: u64,
    /// What the thread did in the kernel.
    pub asleep_in: Option<String>,
}

/// What happened at one moment.
#[derive(Clone, Debug)]
pub struct Instant {
    /// What happened; a user's mark has the name that the program gave it.
    pub name: String,
    /// The moment.
    pub at: u64,
}

impl Trace {
    /// Reads a file that is in memory.
    ///
    /// # Errors
    ///
    /// It is cut off, or not a file of gmp's recorder.
    pub fn read(bytes: &[u8]) -> Result<Trace> {
        let (mut decoder, mut packets, mut trace) = (Decoder::default(), Packets::new(bytes), Trace::default());
        let mut open = HashMap::<Track, Vec<usize>>::new();
        let end = loop {
            match packets.next() {
                Ok(packet) => {
                    if let Packet::Event(event) = decoder.packet(packet)? {
                        trace.add(&decoder, &mut open, &event);
                    }
                }
                Err(end) => break end,
            }
        };
        ensure!(matches!(end, End::File), "byte {} is not a recording's", packets.at());
        Ok(trace)
    }

    fn add(&mut self, decoder: &Decoder, open: &mut HashMap<Track, Vec<usize>>, event: &Event) {
        let open_slices = open.values().flatten();
        open_slices.for_each(|index| self.slices[*index].end = event.at);
        let text = |name| decoder.names.text(name).to_owned();
        match event.what {
            What::Begin(begin) => {
                open.entry(event.track).or_default().push(self.slices.len());
                self.slices.push(Slice {
                    track: text(event.track.title),
                    is_poll: begin.kind == SliceKind::Poll,
                    name: text(begin.name),
                    begin: event.at,
                    end: event.at,
                    asleep_in: begin.asleep_in.map(text),
                });
            }
            What::End(_) => drop(open.get_mut(&event.track).and_then(Vec::pop)),
            What::Other(name) | What::Take { name, .. } => {
                self.instants.push(Instant { name: text(name), at: event.at });
            }
            _ => {}
        }
    }
}
