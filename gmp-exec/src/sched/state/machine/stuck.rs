//! A machine that is stuck, so that sysmon takes its processor.

use std::time::Instant;

use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Loss, ProcessorToken, Sighting};
use crate::sync::Arc;
use crate::task::StuckBy;

#[derive(Clone, Debug)]
pub(crate) struct Stuck {
    pub(crate) machine: Arc<Machine>,
    /// In this poll or section.
    pub(crate) seen: Sighting,
    pub(crate) cause: StuckBy,
    /// When this poll or section was seen first.
    pub(crate) since: Instant,
}

impl Stuck {
    /// Takes the processor. Called by sysmon only: the ownership protocol allows one taker at a time.
    /// `at`: the clock's `running_ns`.
    #[doc(alias = "retake")]
    #[must_use = "a lost token is a lost processor"]
    pub(in crate::sched) fn take(&self, at: u64) -> Option<ProcessorToken> {
        let runnable = self.machine.runnable_time().total();
        self.machine.ownership.take(self.seen, Loss { cause: self.cause, runnable, at })
    }
}
