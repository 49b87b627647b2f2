//! Marks in recordings. There is no recorder in this build: it belongs to gmp-exec's feature
//! `insight`.
//!
//! What the scheduler tells the recorder goes nowhere here.

mod mark;
pub(crate) mod schedtrace;

use std::io;
use std::panic::Location;
use std::sync::Once;
use std::time::{Duration, Instant};

pub use self::mark::mark;
use crate::blocked::Sight;
use crate::sched::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sys::{environment, stderr};
use crate::task::{Header, Id};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Wake,
    Steal,
    Park,
    Unpark,
    Acquire,
    Release,
    Take,
    SectionBegin,
    SectionEnd,
    Timers,
    Ready,
    Mark,
    Queues,
    Sight,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Left {
    Waiting,
}

#[expect(dead_code, reason = "the scheduler fills it in, and nothing reads it")]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner {
    Machine(usize),
    BlockOn,
    Closures,
}

#[expect(dead_code, reason = "the scheduler fills it in, and nothing reads it")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) processor: usize,
    pub(crate) computes: bool,
}

impl Taken {
    pub(crate) fn pack(self) -> u16 {
        0
    }
}

#[expect(dead_code, reason = "the scheduler fills it in, and nothing reads it")]
#[derive(Clone, Debug)]
pub(crate) struct StuckPoll {
    pub(crate) machine: Arc<Machine>,
    pub(crate) turn: u64,
    pub(crate) task: u64,
    pub(crate) since: Instant,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RootName {
    pub(crate) id: Id,
    pub(crate) location: &'static Location<'static>,
}

/// There is none.
#[derive(Debug)]
pub(crate) enum Recording {}

impl Recording {
    pub(crate) fn record_outside(&self, _: Kind, _: u64, _: u16) {
        match *self {}
    }

    pub(crate) fn place(&self, _: &'static Location<'static>) -> u16 {
        match *self {}
    }

    pub(crate) fn name(&self, _: &'static str) -> u16 {
        match *self {}
    }

    pub(crate) fn sight(&self, _: Sight) -> u16 {
        match *self {}
    }
}

pub(crate) fn scheduled(recording: &Recording, _: &Header) -> (Kind, u16) {
    match *recording {}
}

pub(crate) fn is_any_recorded() -> bool {
    false
}

#[derive(Debug)]
pub(crate) struct Recorded {}

impl Recorded {
    pub(crate) fn new() -> Recorded {
        Recorded {}
    }

    pub(crate) fn note_panic(&self, _: u64) {}

    pub(crate) fn wants_stuck_polls(&self) -> bool {
        false
    }

    pub(crate) fn note_stuck(&self, _: StuckPoll) {}

    pub(crate) fn note_end(&self) {}

    pub(crate) fn note_sigquit(&self, _: &Arc<Scheduler>) {}

    pub(crate) fn is_used(&self) -> bool {
        false
    }

    pub(crate) fn current(&self) -> Option<Arc<Recording>> {
        None
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tap {}

impl Tap {
    pub(crate) fn notice(&self, _: &Recorded, _: Owner) -> Option<bool> {
        None
    }

    pub(crate) fn leave_recording(&self) {}

    pub(crate) fn record(&self, _: Kind, _: u64, _: u16) {}

    pub(crate) fn schedule(&self, _: &Header, _: bool) {}

    pub(crate) fn mark(&self, _: u64, _: &'static str) {}

    pub(crate) fn begin_poll(&self, _: &Header, _: Option<usize>) {}

    pub(crate) fn begin_root(&self, _: RootName, _: Option<usize>) {}

    pub(crate) fn end_root(&self, _: bool) {}

    pub(crate) fn begin_local(&self, _: &Header) {}

    pub(crate) fn end_local(&self) {}

    pub(crate) fn schedule_local(&self, _: &Header) {}

    pub(crate) fn leave(&self, _: &Header, _: Left) {}

    pub(crate) fn end_poll(&self) {}

    pub(crate) fn forget_end(&self) {}
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) on_take: Option<Duration>,
    pub(crate) on_sigquit: bool,
}

impl Settings {
    /// None. Says so on standard error, once, if `GMP_TRACE` asks for a recording.
    pub(crate) fn from_env() -> io::Result<Option<Settings>> {
        static SAID: Once = Once::new();
        if environment::var_os("GMP_TRACE").is_some_and(|value| !value.is_empty()) {
            SAID.call_once(|| {
                stderr::try_write(
                    "gmp: GMP_TRACE: nothing is recorded, because gmp-exec was built without `insight`\n",
                );
            });
        }
        Ok(None)
    }
}

pub(crate) fn start(_: &Arc<Scheduler>, _: Settings) -> io::Result<()> {
    Ok(())
}
