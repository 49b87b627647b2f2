//! What is drawn: slices, instants and numbers, each on a track.

use super::event::Left;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Track {
    Processor(usize),
    Machine(usize),
    /// Threads in `block_on`, numbered.
    BlockOn(usize),
    /// Threads that run blocking closures, numbered.
    Closures(usize),
    /// Threads that are none of these.
    Others,
    /// Threads whose rings are not kept any more.
    Gone,
    IdleProcessors,
    Tasks,
    GlobalQueue,
    Queue(usize),
}

/// What a slice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slice {
    /// On the track of a processor, or of a machine that polls without one.
    Poll {
        task: u64,
        place: u16,
        is_root: bool,
    },
    /// Of a task of a `LocalSet`, inside a poll.
    Local {
        task: u64,
        place: u16,
    },
    /// The machine has this processor.
    Holds(usize),
    /// The machine is in a blocking section of a task.
    Section {
        task: u64,
        place: u16,
    },
    /// The machine sleeps.
    Parked,
    InNetpoll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The flow is that of the wake-up which has led to the poll.
    Begin {
        slice: Slice,
        flow: Option<u64>,
        /// The number of what was seen of the thread while it slept in this poll; 0: nothing.
        sight: u16,
        /// The slice has gone on since the part before.
        is_resumed: bool,
    },
    End {
        left: Option<Left>,
    },
    /// The slice goes on in the next part.
    Cut,
    /// The slice ends with the last event before a gap.
    Interrupted,
    /// The flow leads to the poll.
    Wake {
        task: u64,
        place: Option<u16>,
        flow: Option<u64>,
    },
    Steal {
        task: u64,
        victim: usize,
    },
    Take {
        processor: usize,
        computes: bool,
    },
    Timers(u16),
    Ready(u16),
    Mark {
        task: u64,
        name: u16,
    },
    /// So many events are missing after this moment.
    Lost(u64),
    /// None is missing after this moment.
    Complete,
    /// A part begins, if that is known.
    PartBegins,
    /// The snapshot was taken, or the part ends.
    Snapshot,
    Number(u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Nanoseconds.
    pub(super) at: u64,
    pub(super) track: Track,
    pub(super) what: What,
}
