//! What threads have recorded.

/// An event, and when it was.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// In nanoseconds since the recording has started.
    pub at: u64,
    /// The event.
    pub event: Event,
}

/// What a thread did, or what was done to it. A `task` is an id. A `place` is the number of where a
/// task was spawned ([`Names::place`](super::Names::place)); 0 is an unknown place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A poll begins.
    PollBegin {
        /// The task, or the id of a future given to `block_on`.
        task: u64,
        /// Where it was spawned, or where `block_on` was called.
        place: u16,
        /// Of a future given to `block_on`.
        is_root: bool,
    },
    /// A poll is over.
    PollEnd {
        /// The task.
        task: u64,
        /// How the poll has left it.
        left: Left,
        /// The processor with which the poll began.
        processor: Option<usize>,
        /// Of a future given to `block_on`.
        is_root: bool,
    },
    /// A poll of a task of a `LocalSet` begins, inside a poll.
    LocalBegin {
        /// The task.
        task: u64,
        /// Where it was spawned.
        place: u16,
    },
    /// Such a poll is over.
    LocalEnd {
        /// The task.
        task: u64,
        /// How the poll has left it.
        left: Left,
    },
    /// A task was woken, but not during its own poll: the end of that poll says so.
    Wake {
        /// The task.
        task: u64,
        /// Where it was spawned, if it is a task of a `LocalSet` that is scheduled for the first time.
        place: Option<u16>,
    },
    /// A task is scheduled for the first time.
    Spawn {
        /// The task.
        task: u64,
        /// Where it was spawned.
        place: u16,
    },
    /// A task was stolen.
    Steal {
        /// The task.
        task: u64,
        /// The processor that had it.
        victim: usize,
    },
    /// The machine sleeps.
    Park {
        /// In the netpoll.
        in_netpoll: bool,
    },
    /// The machine has woken up.
    Unpark {
        /// The processor that it has kept.
        processor: Option<usize>,
    },
    /// The machine has got this processor.
    Acquire(usize),
    /// The machine gives this processor away.
    Release(usize),
    /// A processor was taken.
    Take {
        /// The machine that held it.
        machine: usize,
        /// The processor.
        processor: usize,
        /// Whether the machine's thread computed. Otherwise it slept.
        computes: bool,
    },
    /// A blocking section of the task under way begins.
    SectionBegin,
    /// It is over.
    SectionEnd,
    /// So many timers have fired.
    Timers(u16),
    /// The netpoll has found so many tasks ready.
    Ready(u16),
    /// The program's own.
    Mark {
        /// The task that has made it.
        task: u64,
        /// The number of its name.
        name: u16,
    },
    /// The lengths of queues.
    Queues {
        /// The processor.
        processor: usize,
        /// The length of its queue.
        own: u64,
        /// That of the global queue.
        global: u64,
    },
    /// So many events of this thread are missing after this moment.
    Lost(u64),
    /// The thread of this task's poll was looked at.
    Sight {
        /// The task.
        task: u64,
        /// The number of what was seen.
        sight: u16,
    },
}

/// How a poll has left its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The task is over.
    Done,
    /// The task waits.
    Waiting,
    /// The task was woken during the poll, and is scheduled again.
    Woken,
}
