//! Reads of tokio's that were dropped after they had taken bytes, as by a `select!` or a `timeout`. These
//! bytes are no longer in the reader, and the program has not got them as a result.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::info::{Short, known};
use super::json::Quoted;

/// Which function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ReadKind {
    /// `read_exact`
    Exact,
    /// `read_u16`, and the like
    Number,
    /// `read_until`
    Until,
    /// `read_line`
    Line,
    /// `copy`, `copy_bidirectional`
    Copy,
}

/// The part of a read that notices its drop.
#[derive(Debug)]
pub struct Reading {
    called: &'static Location<'static>,
    /// While it waits.
    taken: u32,
    kind: ReadKind,
}

impl Reading {
    /// A read that the caller begins.
    #[inline]
    #[track_caller]
    pub const fn here(kind: ReadKind) -> Reading {
        Reading::at(Location::caller(), kind)
    }

    /// A read that was called there.
    #[inline]
    pub const fn at(called: &'static Location<'static>, kind: ReadKind) -> Reading {
        Reading { called, taken: 0, kind }
    }

    /// A poll is over. `taken`: bytes that the reader no longer has, and the caller not yet.
    #[inline]
    pub fn polled(&mut self, waits: bool, taken: usize) {
        self.taken = if waits { taken as u32 } else { 0 };
    }
}

impl Drop for Reading {
    #[inline]
    fn drop(&mut self) {
        if self.taken > 0 {
            note(self);
        }
    }
}

/// How often it has happened at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Dropped {
    times: u64,
    bytes: u64,
}

static DROPPED: Mutex<BTreeMap<(&'static Location<'static>, ReadKind), Dropped>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<(&'static Location<'static>, ReadKind), Dropped>> {
    DROPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
fn note(reading: &Reading) {
    let mut dropped = lock();
    let of_place = dropped.entry((reading.called, reading.kind)).or_default();
    of_place.times += 1;
    of_place.bytes += u64::from(reading.taken);
}

/// The reads of a place that were dropped so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct DroppedReads {
    called: Option<&'static Location<'static>>,
    kind: ReadKind,
    dropped: Dropped,
}

/// The most frequent ones first.
pub(super) fn dropped_reads() -> Vec<DroppedReads> {
    let of = |(&(called, kind), &dropped): (&(_, _), &_)| DroppedReads { called: known(called), kind, dropped };
    let mut all: Vec<DroppedReads> = lock().iter().map(of).collect();
    all.sort_by_key(|reads| std::cmp::Reverse(reads.dropped.times));
    all
}

impl DroppedReads {
    /// As an object of JSON.
    pub(super) fn json(&self) -> String {
        let place = self.called.map_or_else(String::new, |place| format!("{}", Short(place)));
        let Dropped { times, bytes } = self.dropped;
        let (kind, place) = (Quoted(self.kind.name()), Quoted(&place));
        format!(r#"{{"dropped_reads":{times},"bytes":{bytes},"read":{kind},"called":{place}}}"#)
    }
}

impl ReadKind {
    fn name(self) -> &'static str {
        match self {
            ReadKind::Exact => "read_exact",
            ReadKind::Number => "read_u16 or the like",
            ReadKind::Until => "read_until",
            ReadKind::Line => "read_line",
            ReadKind::Copy => "copy",
        }
    }
}

impl fmt::Display for DroppedReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dropped { times, bytes } = self.dropped;
        write!(f, "dropped {times}x, with {bytes} bytes: {}", self.kind.name())?;
        self.called.map_or(Ok(()), |place| write!(f, " called at {}", Short(place)))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn only_reads_that_wait_with_bytes_are_counted() {
        let called = Location::caller();
        for (waits, taken) in [(true, 3), (true, 0), (false, 4), (true, 2)] {
            let mut reading = Reading::at(called, ReadKind::Exact);
            reading.polled(true, 1);
            reading.polled(waits, taken);
        }
        drop(Reading::at(called, ReadKind::Exact));
        let all = dropped_reads();
        let reads = all.iter().find(|reads| reads.called == Some(called)).unwrap();
        assert_eq!(reads.to_string(), format!("dropped 2x, with 5 bytes: read_exact called at {}", Short(called)));
        let (json, place) = (reads.json(), Short(called));
        assert_eq!(json, format!(r#"{{"dropped_reads":2,"bytes":5,"read":"read_exact","called":"{place}"}}"#));
    }
}
