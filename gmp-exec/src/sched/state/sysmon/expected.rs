//! What machines expect because of recent polls, in one byte. sysmon writes it at each look
//! (`sysmon::long_polls`).

use crate::sync::atomic::AtomicU8;
use crate::sync::atomic::Ordering::Relaxed;

/// In ascending order: each level includes those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::sched) enum Level {
    Nothing,
    /// Threads may compete for the cores: time slices are short.
    Competition,
    /// Long polls are likely: a machine that leaves the netpoll leaves a successor.
    LongPolls,
}

pub(in crate::sched) struct Expected(AtomicU8);

impl Expected {
    pub(super) fn new() -> Expected {
        Expected(AtomicU8::new(Level::Nothing as u8))
    }

    pub(in crate::sched) fn has(&self, level: Level) -> bool {
        self.0.load(Relaxed) >= level as u8
    }

    pub(in crate::sched) fn set(&self, level: Level) {
        self.0.store(level as u8, Relaxed);
    }
}
