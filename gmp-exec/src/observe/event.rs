//! What the recorder is told.

use std::panic::Location;

use crate::blocked::Sight;
use crate::sched::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::Stuck;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::task::{Header, Id, Runnable};

/// What happens on a machine, or on another thread.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "insight"), expect(dead_code, reason = "only a recorder reads them"))]
pub(crate) enum Event<'a> {
    /// The machine gets this processor.
    Acquire(usize),
    /// The machine returns its processor for lack of work, or because the runtime ends.
    Release(&'a ProcessorToken),
    /// The machine gives its processor to another machine.
    HandOff(&'a ProcessorToken),
    /// The machine sleeps as a spare.
    Park,
    ParkInNetpoll,
    Unpark,
    /// The machine has kept its processor while it slept.
    UnparkWithProcessor,
    /// The machine looks for a task anywhere but in its own queue, or a thread of the pool for a closure. The
    /// next poll may be that of a task that another thread has woken since the end of the latest.
    Search,
    /// The lengths of the queue of this processor and of the global queue are to be noted.
    Queues(&'a Scheduler, usize),
    /// The machine has stolen a task from this processor.
    Steal(&'a Runnable, usize),
    /// So many timers are due.
    Timers(usize),
    /// So many tasks became ready in the netpoll.
    Ready(usize),
    SectionBegin,
    SectionEnd,
    /// A task is about to be queued. `true`: it was woken during its own poll.
    Schedule(&'a Header, bool),
    /// A poll or closure begins, on this machine if the thread is one that can have a processor.
    PollBegin(&'a Header, Option<&'a Machine>),
    /// The poll ends, and its task waits.
    Wait(&'a Header),
    PollEnd,
    /// A poll of the future given to `block_on` begins.
    RootBegin(RootName, Option<&'a Machine>),
    /// It ends. `true`: the future is ready.
    RootEnd(bool),
    /// The future of this id is woken.
    RootWake(u64),
    /// A poll of a task of a `LocalSet` begins, inside the poll under way.
    LocalBegin(&'a Header),
    LocalEnd,
    /// Such a task is about to be queued.
    LocalSchedule(&'a Header),
    /// This processor was taken.
    Take(usize, &'a Stuck),
    /// What was seen of the thread that is in a long poll of this task.
    Sight(Id, &'a Sight),
    /// A mark of the program's own, made by this task.
    Mark(u64, &'static str),
}

/// The future given to `block_on`, and where that was called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootName {
    pub(crate) id: Id,
    pub(crate) location: &'static Location<'static>,
}
