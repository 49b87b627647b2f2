//! Counts what a program makes, and what becomes of each value: it is dropped, once.
//!
//! The counters order nothing: with a stronger ordering they would hide a race from
//! ThreadSanitizer.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicUsize};
use std::thread;

/// More values than a program makes.
const ROOM: usize = 1 << 22;

#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Future,
    Closure,
    Output,
    /// What a panic carries.
    Payload,
}

const KINDS: [Kind; 4] = [Kind::Future, Kind::Closure, Kind::Output, Kind::Payload];

const MADE: u8 = 1;
const RECEIVED: u8 = 2;
const DROPPED: u8 = 3;

/// Lives as long as the process, so that a value that is dropped twice is noticed even if the first
/// drop was that of the whole program.
pub(super) struct Tally {
    /// A kind, times four, and one of the constants above.
    values: [AtomicU8; ROOM],
    made: AtomicUsize,
    dropped: AtomicUsize,
    faults: Mutex<Vec<String>>,
}

impl Tally {
    pub(super) const fn new() -> Tally {
        Tally {
            values: [const { AtomicU8::new(0) }; ROOM],
            made: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            faults: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn mark(&'static self, kind: Kind) -> Mark {
        let number = self.made.fetch_add(1, Relaxed);
        self.values[number].store(kind as u8 * 4 + MADE, Relaxed);
        Mark { tally: self, number }
    }

    /// Notes what is wrong. The program goes on, since a panic would be one more event in it.
    pub(super) fn fault(&self, text: String) {
        let _ = writeln!(io::stderr(), "{text}");
        self.faults.lock().unwrap().push(text);
    }

    pub(super) fn expect(&self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.fault(text());
        }
    }

    /// Nothing of the program is left.
    pub(super) fn is_settled(&self) -> bool {
        self.dropped.load(Acquire) == self.made.load(Relaxed)
    }

    /// A watchdog must be running: a value that is leaked is waited for.
    pub(super) fn settle(&self) {
        while !self.is_settled() {
            thread::yield_now();
        }
    }

    /// Empties the tally for the next program.
    pub(super) fn close(&self) {
        let faults = std::mem::take(&mut *self.faults.lock().unwrap());
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(self.is_settled(), "left: {}", self.left());
        let made = self.made.swap(0, Relaxed);
        self.dropped.store(0, Relaxed);
        self.values[..made].iter().for_each(|value| value.store(0, Relaxed));
    }

    /// What has been made and not dropped.
    pub(super) fn left(&self) -> String {
        let values = &self.values[..self.made.load(Relaxed)];
        let is_left = |value: u8, kind| value / 4 == kind as u8 && value % 4 != DROPPED;
        let count = |kind| values.iter().filter(|value| is_left(value.load(Relaxed), kind)).count();
        KINDS.map(|kind| format!("{kind:?}: {}", count(kind))).join(", ")
    }
}

/// A value's entry in the tally; a part of the value.
pub(super) struct Mark {
    tally: &'static Tally,
    number: usize,
}

impl Mark {
    pub(super) fn tally(&self) -> &'static Tally {
        self.tally
    }

    pub(super) fn kind(&self) -> Kind {
        KINDS[usize::from(self.tally.values[self.number].load(Relaxed) / 4)]
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The task or thread that the value was for has it.
    pub(super) fn receive(&self) {
        self.turn_into(RECEIVED, &[MADE]);
    }

    /// For planted faults.
    pub(super) fn copied(&self) -> Mark {
        Mark { ..*self }
    }

    fn turn_into(&self, new: u8, expected: &[u8]) {
        let value = &self.tally.values[self.number];
        let old = value.load(Relaxed);
        let old = value.swap(old / 4 * 4 + new, Relaxed);
        self.tally.expect(expected.contains(&(old % 4)), || {
            format!(
                "the value {} ({:?}) went from state {} to {new}",
                self.number,
                KINDS[usize::from(old / 4)],
                old % 4
            )
        });
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.turn_into(DROPPED, &[MADE, RECEIVED]);
        self.tally.dropped.fetch_add(1, Release);
    }
}
