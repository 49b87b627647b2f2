//! What a task waits for, as the dump says it.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::info::Short;
use crate::task::join_set::size_of_set;
use crate::task::{Id, Moment, Wait};

/// What a task waits for; see [`TaskInfo::waits_for`](super::TaskInfo::waits_for).
///
/// `Display` writes it as the end of a sentence: `for a timer in 3.0 s`, `for fd 12 to be
/// readable`, `at tokio-1.54.1/src/sync/mpsc/chan.rs:308`.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// use gmp_exec::runtime::{Handle, TaskInfo, TaskState, WaitsFor};
/// use gmp_exec::{spawn, task::yield_now};
///
/// let awaited = spawn(std::future::pending::<()>());
/// let id = awaited.id();
/// let joins = spawn(awaited).id();
/// let info = loop {
///     let is_it = |task: &TaskInfo| task.id == joins && task.state == TaskState::Waiting;
///     if let Some(info) = Handle::current().tasks().find(is_it) {
///         break info;
///     }
///     yield_now().await;
/// };
/// assert_eq!(info.waits_for, Some(WaitsFor::Task(id)));
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A timer that fires after about so long; zero if it is due.
    Timer(Duration),
    /// A file descriptor that becomes readable.
    Readable(i32),
    /// A file descriptor that becomes writable.
    Writable(i32),
    /// The end of this task, or of this closure of
    /// [`spawn_blocking`](crate::task::spawn_blocking).
    Task(Id),
    /// The end of any task of a [`JoinSet`](crate::task::JoinSet) that has so many tasks now. 0:
    /// the set was dropped since.
    AnyOf(usize),
    /// A future that waits at this place of gmp's or tokio's code, as the channels do.
    Place(&'static Location<'static>),
}

/// The moment of a dump, on the coarse clock of the system and on that of the runtime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) coarse: Moment,
    /// Nanoseconds.
    pub(super) runtime: u64,
}

impl WaitsFor {
    /// `now`: on the runtime's clock.
    pub(super) fn of(wait: Wait, now: u64) -> WaitsFor {
        match wait {
            Wait::Timer(at) => WaitsFor::Timer(Duration::from_nanos(at.saturating_sub(now))),
            Wait::Readable(fd) => WaitsFor::Readable(fd),
            Wait::Writable(fd) => WaitsFor::Writable(fd),
            Wait::Task(id) => WaitsFor::Task(id),
            Wait::AnyOf(roll) => WaitsFor::AnyOf(size_of_set(roll)),
            Wait::At(place) => WaitsFor::Place(place),
        }
    }
}

impl WaitsFor {
    /// The same kind of wait, without what distinguishes one task's wait from that of another one:
    /// tasks are grouped by this. `None`: a wait for another task.
    pub(super) fn kind(self) -> Option<WaitsFor> {
        Some(match self {
            WaitsFor::Timer(_) => WaitsFor::Timer(Duration::ZERO),
            WaitsFor::Readable(_) => WaitsFor::Readable(0),
            WaitsFor::Writable(_) => WaitsFor::Writable(0),
            WaitsFor::Task(_) => return None,
            WaitsFor::AnyOf(_) => WaitsFor::AnyOf(0),
            WaitsFor::Place(place) => WaitsFor::Place(place),
        })
    }

    /// What several tasks of a group wait for, of which `self` is the one for the shortest time.
    pub(super) fn of_several(self) -> OfSeveral {
        OfSeveral(self)
    }
}

/// Displays a wait of several tasks.
pub(super) struct OfSeveral(WaitsFor);

impl fmt::Display for OfSeveral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            WaitsFor::Timer(left) => write!(f, "for timers, the next in {:.1} s", left.as_secs_f64()),
            WaitsFor::Readable(_) => f.write_str("for descriptors to be readable"),
            WaitsFor::Writable(_) => f.write_str("for descriptors to be writable"),
            WaitsFor::Task(_) => f.write_str("for other tasks"),
            WaitsFor::AnyOf(_) => f.write_str("for tasks of sets"),
            WaitsFor::Place(place) => write!(f, "at {}", Short(place)),
        }
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitsFor::Timer(left) => write!(f, "for a timer in {:.1} s", left.as_secs_f64()),
            WaitsFor::Readable(fd) => write!(f, "for fd {fd} to be readable"),
            WaitsFor::Writable(fd) => write!(f, "for fd {fd} to be writable"),
            WaitsFor::Task(id) => write!(f, "for task {id}"),
            WaitsFor::AnyOf(count) => write!(f, "for any of {count} tasks"),
            WaitsFor::Place(place) => write!(f, "at {}", Short(place)),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_the_end_of_a_sentence() {
        let id = Id::from_u64(7).unwrap();
        let text = |wait: Wait| WaitsFor::of(wait, 1_000_000_000).to_string();
        assert_eq!(text(Wait::Timer(4_000_000_000)), "for a timer in 3.0 s");
        assert_eq!(text(Wait::Timer(1)), "for a timer in 0.0 s");
        assert_eq!(text(Wait::Readable(12)), "for fd 12 to be readable");
        assert_eq!(text(Wait::Writable(12)), "for fd 12 to be writable");
        assert_eq!(text(Wait::Task(id)), "for task 7");
        assert_eq!(WaitsFor::AnyOf(3).to_string(), "for any of 3 tasks");
        let place = Location::caller();
        assert!(text(Wait::At(place)).ends_with(&format!("waits.rs:{}", place.line())));
    }
}
