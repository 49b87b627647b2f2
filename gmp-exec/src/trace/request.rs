//! Requests to the thread "gmp-trace".

use super::stuck::StuckPoll;

/// Why something is to be written.
#[derive(Debug)]
pub(super) enum Request {
    /// If this poll lasts for too long.
    Stuck(StuckPoll),
    /// This task has panicked.
    Panic(u64),
    /// A thread has filled a half of its ring, and files are to have everything.
    HalfFull,
    /// The runtime ends. No file if one was asked for in other cases.
    End,
}
