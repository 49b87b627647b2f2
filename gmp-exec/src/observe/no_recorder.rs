//! In place of `recorder` in a build without the feature `insight`: nothing is recorded.

use std::io;
use std::sync::Once;
use std::time::{Duration, Instant};

use super::Event;
use crate::sched::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sys::{environment, stderr};
use crate::task::Id;

#[expect(dead_code, reason = "nothing reads it")]
pub(crate) enum Owner {
    Machine(usize),
    BlockOn,
    Closures,
}

#[derive(Debug)]
pub(crate) struct Recorded;

impl Recorded {
    pub(super) fn new() -> Recorded {
        Recorded
    }

    pub(super) fn is_under_way(&self) -> bool {
        false
    }

    pub(super) fn wants_stuck_polls(&self) -> bool {
        false
    }

    pub(super) fn note_panic(&self, _: u64) {}

    pub(super) fn note_end(&self) {}

    pub(crate) fn write_last(&self, _: &Arc<Scheduler>) {}

    pub(crate) fn note_sigquit(&self, _: &Arc<Scheduler>) {}
}

#[derive(Debug, Default)]
pub(crate) struct Tap;

impl Tap {
    pub(super) fn notice(&self, _: &Recorded, _: Owner) -> Option<bool> {
        None
    }

    pub(super) fn leave_recording(&self) {}
}

pub(super) fn is_any_recorded() -> bool {
    false
}

pub(super) fn tell(_: &Tap, _: Event<'_>) {}

pub(super) fn tell_outside(_: &Recorded, _: Event<'_>) {}

pub(super) fn tell_stuck(_: &Recorded, _: &Arc<Machine>, _: u64, _: Id, _: Instant) {}

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

type WriteRecorded = Box<dyn FnOnce(&mut dyn io::Write) -> io::Result<()>>;

pub(crate) fn record_until_written(_: &Arc<Scheduler>) -> Option<WriteRecorded> {
    None
}

pub(crate) fn start(_: &Arc<Scheduler>, _: Settings) -> io::Result<()> {
    Ok(())
}
