//! How the poll of a known hog began.

use std::panic::Location;
use std::time::Instant;

use crate::sys::thread_state::RunnableTime;

/// The moment at which the poll of a known hog began, and the state of its thread then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HogPoll {
    pub(in crate::sched) at: Instant,
    /// How long the machine's thread had been runnable by then.
    pub(in crate::sched) runnable: RunnableTime,
    /// Where the task was spawned, if it has never waited.
    pub(in crate::sched) first_of: Option<&'static Location<'static>>,
}
