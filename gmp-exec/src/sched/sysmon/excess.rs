//! Polls that compute beyond `max_hogs`: one more every few milliseconds.
//!
//! `max_hogs` keeps a crowd of computing threads from taking each other's cores. Kept to the letter it would be a trap: a
//! processor whose machine computes stays where it is once all places are taken, and as many long polls as there are places and
//! processors stop timers, the network and all other tasks; a known hog's short poll waits in line for polls of seconds; hogs
//! that sleep until one in the line has run wait for ever. So while a processor is refused, or a task waits in line, one more
//! is let go on after a while, and the more there are already the longer is the while: so a crowd of polls of 20 ms stays near
//! `max_hogs`, because as many end as are let in, and a few of several seconds do not stop anything for much longer than the
//! `blocking_threshold`.
//!
//! Rejected: places that belong to machines by name, which sysmon took back from those who slept (500 lines, and who computes
//! was let in by nobody); lower kernel priorities (they can't be raised again, and a hog may hold a lock).

use std::time::Duration;

/// The while between two of them, in sixths of the threshold, by how many there are in excess already. All that compute share
/// the cores, so the first one ends late, and until then more and more would be let go on. That is also for how long nobody else
/// gets a processor if all processors are held up, so the first ones are short.
pub(super) const WAITS: [u32; 8] = [2, 5, 9, 12, 18, 24, 30, 36];

#[derive(Debug, Default)]
pub(super) struct Excess {
    /// When the last one was let go on, or since when somebody has wanted to, in [`Memory::time`]; `None`: nobody does.
    pub(super) since: Option<Duration>,
    /// The last one was a poll that had a processor. Then it is the line's turn.
    pub(super) was_poll: bool,
}
