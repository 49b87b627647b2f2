//! Tasks: the unit of work.
//!
//! A task is a future that the scheduler polls, on any machine that holds a processor. The future
//! may block or compute inside its poll: the scheduler then takes the processor from the thread and
//! hands it to another one, so other tasks are not delayed. There are two limits: futures joined
//! inside *one* task still wait for each other, and a poll can't be stopped half-way.
//!
//! # Threads and what belongs to them
//!
//! One poll runs on one thread; the next poll of the task may run on another, as on tokio. So a
//! task finds thread-locals, the nice value, the signal mask and the like as the last user code on
//! that thread has left them.
//!
//! - What a poll changes is seen by later polls on the same thread, and by no other thread: those
//!   that the runtime starts later inherit from the thread that built the runtime. (Without
//!   [sysmon](crate::runtime::Builder::sysmon) they inherit from whichever thread starts them, as
//!   threads for closures do.)
//! - A poll that loses its processor, and a [`block_in_place`], stay on their thread to their end.
//!   Other tasks go on on other threads meanwhile.
//! - A closure of [`spawn_blocking`] runs on a thread that polls no tasks. What it changes is seen
//!   by later closures only.
//! - A closure of [`spawn_blocking_in_place`] runs where polls run.

pub mod coop;
pub mod join_set;

mod abort;
mod at_shutdown;
mod blocking;
mod body;
mod builder;
mod error;
mod future;
mod header;
mod home;
mod hooks;
mod id;
mod join;
mod joining;
mod kept_thread;
mod local_set;
#[cfg(loom)]
mod loom_progress;
mod moment;
mod names;
mod observer;
mod place;
mod progress;
pub(crate) mod registry;
#[cfg(feature = "tracing")]
mod span;
#[cfg(not(feature = "tracing"))]
#[path = "no_span.rs"]
mod span;
mod spawn;
#[cfg(feature = "taskdump")]
pub(crate) mod traced;
#[cfg(not(feature = "taskdump"))]
#[path = "no_traced.rs"]
mod traced;
mod unhandled_panic;
mod waiting;
#[cfg(feature = "tracing")]
mod waker_events;
#[cfg(not(feature = "tracing"))]
#[path = "no_waker_events.rs"]
mod waker_events;
mod watch;
mod yield_now;

pub use abort::AbortHandle;
pub use at_shutdown::AtShutdown;
pub use blocking::{block_in_place, blocking, spawn_blocking, spawn_blocking_in_place, spawn_blocking_with};
pub(crate) use blocking::{spawn_blocking_on, started};
pub use builder::Builder;
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use error::JoinError;
pub(crate) use future::{cancel, drop_now};
pub(crate) use header::{Header, Kind, Observed, Runnable, Special, StuckBy};
pub(crate) use home::{Home, HomeRef};
pub(crate) use hooks::TaskHooks;
pub use hooks::TaskMeta;
pub use id::{Id, id, try_id};
pub use join::JoinHandle;
pub use join_set::JoinSet;
pub use kept_thread::{KeptThread, keep_thread};
#[cfg(all(test, loom))]
pub(crate) use local_set::PolledTask;
pub use local_set::{LocalEnterGuard, LocalSet, spawn_local};
pub(crate) use local_set::{LocalHome, add_runtime, local_sets_of, remove_runtime};
pub(crate) use moment::Moment;
pub(crate) use names::name_of;
pub(crate) use observer::{Awaited, Observer};
pub(crate) use place::Place;
pub(crate) use progress::{Progress, Reading, Stage};
pub(crate) use span::of_block_on;
pub use spawn::spawn;
pub(crate) use spawn::{new_task, spawn_on};
#[cfg(feature = "taskdump")]
pub(crate) use traced::{Asked, Found, Trace, is_tracing};
pub(crate) use traced::{leaf, rooted};
pub use unhandled_panic::UnhandledPanic;
pub(crate) use waiting::{PackedWait, Wait};
pub(crate) use waker_events::wake_yielding;
pub(crate) use watch::{poll as poll_watched, run as run_watched};
pub use yield_now::yield_now;
