//! The description of one task.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::polled::Polled;
use super::sites::Site;
use super::waits::{All, Now, WaitsFor};
use crate::escaped::{Escaped, short};
use crate::sys::peer::Ports;
use crate::task::{Header, Id, Moment, Place, Reading, Stage, Wait, name_of};

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// It is being polled, or its blocking closure runs.
    Running,
    /// It was spawned or woken, and waits for its turn. A blocking closure may also wait because
    /// [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads) others run.
    Scheduled,
    /// Its last poll has returned `Pending`, and it was not woken since.
    Waiting,
}

/// A task, as it was when [`Tasks`](super::Tasks) looked at it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskInfo {
    /// The id that [`JoinHandle::id`](crate::task::JoinHandle::id) returns.
    pub id: Id,
    /// What it does.
    pub state: TaskState,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
    /// The name that it was given by a [`task::Builder`](crate::task::Builder).
    pub name: Option<Box<str>>,
    /// Whether it is a closure of [`spawn_blocking`](crate::task::spawn_blocking).
    pub is_blocking: bool,
    /// How often it was polled, the poll under way included; modulo 2^31.
    pub polls: u32,
    /// How long ago it first waited, which is nearly its age. Up to 20 ms too long. `None` if it
    /// has never waited.
    pub age: Option<Duration>,
    /// How long a blocking closure has waited because
    /// [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads) others run.
    pub queued: Option<Duration>,
    /// The worker that polls it. `None` if it does not run, or runs without one: blocking closures,
    /// tasks that have held their thread for long, and tasks of a
    /// [`LocalSet`](crate::task::LocalSet) in a `block_on` of the multi-thread flavour.
    pub worker: Option<usize>,
    /// How long the poll under way has held its thread, if it is known to hold it for too long.
    ///
    /// Nothing is known of threads that are not watched: those of current-thread and local runtimes
    /// without [`watch_current_thread`](crate::runtime::Builder::watch_current_thread) or
    /// `GMP_BLOCKED`, and those inside `block_on` of the multi-thread flavour, where tasks of a
    /// [`LocalSet`](crate::task::LocalSet) run. Of sets that are polled inside of each other's
    /// tasks, it is known of the innermost task.
    pub stuck: Option<Duration>,
    /// What it waits for, if it waits and futures of gmp or tokio have said so: each that had to
    /// wait in the last poll, in this order, and of several timers the last one. A `select!` may
    /// have dropped some of these futures in the same poll.
    pub waits_for: Vec<WaitsFor>,
    /// Whether it waits for more than that.
    pub waits_for_more: bool,
    /// Whether it can never run again: no waker of it is left, except in tasks of that kind. Known
    /// only if wakers are counted; see [`Builder::leaks`](crate::runtime::Builder::leaks).
    pub is_lost: bool,
    /// Some of the tasks that have permits for which it waits.
    pub(super) holders: Vec<Id>,
    /// The rolls of the `JoinSet`s that it waits for.
    pub(super) rolls: Vec<u64>,
    /// The lines at which it waits, if they were asked for.
    pub(super) sites: Vec<Site>,
    /// The type of its future, if that was asked for and a crate has spawned the task.
    pub(super) future: Option<&'static str>,
}

impl TaskInfo {
    /// A task that the registry lists. `waited`: when it first waited.
    pub(super) fn listed(header: &Header, waited: Option<Moment>, now: Now) -> TaskInfo {
        let reading = header.progress.read();
        let (waits, waits_for_more) = reading.waits_for();
        let roll = |wait: &Wait| if let Wait::AnyOf(roll) = *wait { Some(roll) } else { None };
        TaskInfo {
            age: waited.map(|waited| now.coarse.since(waited)),
            queued: queued(header, now.closures),
            rolls: waits.iter().filter_map(roll).collect(),
            waits_for: waits.into_iter().map(|wait| WaitsFor::of(wait, now.runtime)).collect(),
            waits_for_more,
            ..TaskInfo::of(header, reading)
        }
    }

    /// The future of a `block_on`.
    pub(super) fn root(header: &Header, now: Now) -> TaskInfo {
        let mut info = TaskInfo::listed(header, None, now);
        let mut ports = Ports::default();
        info.waits_for.iter_mut().for_each(|wait| wait.look_at_descriptor(&mut ports));
        info
    }

    /// A task of a test.
    #[cfg(all(test, not(any(loom, shuttle))))]
    #[track_caller]
    pub(super) fn waiting(id: Id) -> TaskInfo {
        let polled = Polled { location: Location::caller(), is_blocking: false, worker: None, stuck: None };
        TaskInfo { state: TaskState::Waiting, ..TaskInfo::first_poll(id, &polled) }
    }

    /// A task that waits for its first poll. `now`: on the clock of closures that wait.
    pub(super) fn new(header: &Header, now: u64) -> TaskInfo {
        let queued = queued(header, now);
        TaskInfo { state: TaskState::Scheduled, queued, ..TaskInfo::of(header, header.progress.read()) }
    }

    fn of(header: &Header, reading: Reading) -> TaskInfo {
        TaskInfo {
            id: header.id,
            state: reading.stage.into(),
            location: header.location,
            name: header.name(),
            is_blocking: header.is_closure(),
            polls: reading.polls,
            age: None,
            queued: None,
            worker: None,
            stuck: None,
            waits_for: Vec::new(),
            waits_for_more: false,
            is_lost: false,
            holders: Vec::new(),
            rolls: Vec::new(),
            sites: Vec::new(),
            future: None,
        }
    }

    /// A task that is being polled for the first time.
    pub(super) fn first_poll(id: Id, polled: &Polled) -> TaskInfo {
        TaskInfo {
            id,
            state: TaskState::Running,
            location: polled.location,
            name: name_of(id),
            is_blocking: polled.is_blocking,
            polls: 1,
            age: None,
            queued: None,
            worker: polled.worker,
            stuck: polled.stuck,
            waits_for: Vec::new(),
            waits_for_more: false,
            is_lost: false,
            holders: Vec::new(),
            rolls: Vec::new(),
            sites: Vec::new(),
            future: None,
        }
    }
}

impl TaskInfo {
    /// The tasks that have to go on first.
    pub(super) fn blocked_by(&self) -> impl Iterator<Item = Id> {
        self.waits_for.iter().filter_map(WaitsFor::blocked_by)
    }

    pub(super) fn waits(&self) -> All<'_, WaitsFor> {
        All { waits: &self.waits_for, more: self.waits_for_more }
    }
}

fn queued(header: &Header, now: u64) -> Option<Duration> {
    let is_of_pool = header.is_closure() && header.place() == Place::Pool;
    let since = is_of_pool.then(|| header.progress.queued_at()).flatten()?;
    Some(Duration::from_nanos(now.saturating_sub(since)))
}

impl From<Stage> for TaskState {
    fn from(stage: Stage) -> TaskState {
        match stage {
            Stage::Waiting => TaskState::Waiting,
            Stage::Scheduled => TaskState::Scheduled,
            Stage::Running => TaskState::Running,
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TaskState::Running => "running",
            TaskState::Scheduled => "scheduled",
            TaskState::Waiting => "waiting",
        })
    }
}

/// A name behind what has it; nothing without a name.
pub(super) struct Named<'a>(pub(super) &'a Option<Box<str>>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(name) => write!(f, " {name:?}"),
        }
    }
}

/// A place in a file. A file of a published crate is named by the crate, without the folder into
/// which cargo has unpacked it; one of the drop-in's copy of tokio by `tokio`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short(pub(super) &'static Location<'static>);

impl PartialEq for Short {
    fn eq(&self, other: &Short) -> bool {
        (self.0.file(), self.0.line()) == (other.0.file(), other.0.line())
    }
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.0.file(), self.0.line());
        match file.split_once("/tokio-real/") {
            Some((_, path)) => write!(f, "tokio/{}:{line}", Escaped(path)),
            None => write!(f, "{}:{line}", short(file)),
        }
    }
}

/// Where a lock, channel or read of tokio's began; `None` if that is a place in tokio.
pub(super) fn known(place: &'static Location<'static>) -> Option<&'static Location<'static>> {
    (!place.file().contains("/tokio-real/")).then_some(place)
}
