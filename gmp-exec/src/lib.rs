//! A Tokio-compatible executor built on Go's scheduler model: tasks, machines, processors.
//!
//! On tokio, a task that blocks or computes inside its poll freezes the tasks behind it, the timers
//! and the network. Here the scheduler takes the *processor*, the right to run tasks, from a thread
//! that is stuck, and hands it to a spare thread. The task needs no annotation.
//!
//! ```
//! use gmp_exec::{runtime::Runtime, spawn, time};
//! use std::time::Duration;
//!
//! let runtime = Runtime::new().unwrap();
//! runtime.block_on(async {
//!     // Blocks its thread, as a task should not.
//!     let blocker = spawn(async { std::thread::sleep(Duration::from_millis(30)) });
//!     time::sleep(Duration::from_millis(1)).await;
//!     blocker.await.unwrap();
//! });
//! ```
//!
//! Names and meanings are tokio's, so changing the imports is enough. A "worker" in a public name
//! is a processor.
//!
//! There are two limits. Futures joined inside *one* task still wait for each other. A poll can't
//! be stopped half-way: a task that computes keeps a core busy until its poll returns, and the
//! kernel shares that core between threads.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc(test(attr(deny(warnings))))]

pub mod netpoll;
pub mod runtime;
pub mod task;
pub mod time;
#[cfg(feature = "insight")]
pub mod trace;
/// Marks in recordings. There is no recorder in this build: it belongs to gmp-exec's feature
/// `insight`.
#[cfg(not(feature = "insight"))]
pub mod trace {
    pub use crate::observe::mark;
}

#[doc(hidden)]
pub mod bridge;

mod blocked;
mod contain;
mod context;
mod dump;
mod escaped;
mod lost;
mod metrics;
mod observe;
mod procs;
mod sched;
#[cfg(all(
    feature = "seeded",
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    not(any(loom, shuttle, gmp_lines, miri))
))]
mod seeded;
#[cfg(not(all(
    feature = "seeded",
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    not(any(loom, shuttle, gmp_lines, miri))
)))]
#[path = "no_seeded.rs"]
mod seeded;
#[cfg(all(feature = "seeded", target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[doc(hidden)]
pub mod seeds;
#[cfg(all(feature = "seeded", not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))))]
#[doc(hidden)]
#[path = "no_seeds.rs"]
pub mod seeds;
mod several;
mod sync;
mod sys;

#[cfg(feature = "macros")]
pub use gmp_macros::{main, test};
#[cfg(gmp_bench)]
#[doc(hidden)]
pub use sched::bench;
pub use task::spawn;
