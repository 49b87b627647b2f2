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

mod blocking;
mod builder;
mod cell;
mod console;
mod handle;
mod local_set;
mod observer;
pub(crate) mod registry;
pub(crate) mod roots;
pub(crate) mod sites;
mod spawn;
#[cfg(feature = "taskdump")]
pub(crate) mod traced;
#[cfg(not(feature = "taskdump"))]
#[path = "traced/no_traced.rs"]
mod traced;
mod watch;
mod yield_now;

pub use blocking::at_shutdown::AtShutdown;
pub use blocking::kept_thread::{KeptThread, keep_thread};
pub(crate) use blocking::place::Place;
pub use blocking::{block_in_place, blocking, spawn_blocking, spawn_blocking_in_place, spawn_blocking_with};
pub(crate) use blocking::{spawn_blocking_on, started};
pub use builder::Builder;
pub(crate) use cell::future::{cancel, drop_now};
pub(crate) use cell::header::{Header, Kind, Observed, Runnable, Special, StuckBy};
pub(crate) use cell::home::{Home, HomeRef};
pub use cell::id::{Id, id, try_id};
pub(crate) use cell::moment::Moment;
pub(crate) use cell::progress::{Progress, Reading, Stage};
pub use cell::waiting::Resource;
pub(crate) use cell::waiting::{MOST, PackedWait, SyncWait, Wait};
pub(crate) use console::span::of_block_on;
pub(crate) use console::waker_events::wake_yielding;
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use handle::abort::AbortHandle;
pub use handle::error::JoinError;
pub use handle::join::JoinHandle;
pub use join_set::JoinSet;
#[cfg(all(test, loom))]
pub(crate) use local_set::PolledTask;
pub use local_set::{LocalEnterGuard, LocalSet, spawn_local};
pub(crate) use local_set::{LocalHome, add_runtime, local_sets_of, remove_runtime, set_of_local_runtime};
pub(crate) use observer::{Awaited, Observer};
pub use spawn::spawn;
pub(crate) use spawn::{is_large, new_task, spawn_on};
#[cfg(feature = "taskdump")]
pub(crate) use traced::{Asked, Found, Trace, is_tracing};
pub(crate) use traced::{leaf, rooted};
pub(crate) use watch::hooks::TaskHooks;
pub use watch::hooks::TaskMeta;
pub(crate) use watch::names::name_of;
pub use watch::unhandled_panic::UnhandledPanic;
pub(crate) use watch::{poll as poll_watched, run as run_watched};
pub use yield_now::yield_now;
