//! A Tokio-compatible executor built on Go's scheduler model: tasks, machines, processors.
//!
//! On tokio, a task that blocks or computes inside its poll freezes the tasks behind it, the timers and the network.
//! Here a *processor*, the right to run tasks, is taken away from a thread that is stuck and goes on with a spare one;
//! no annotation is needed.
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
//! Names and meaning are tokio's, so that swapping an import is enough. A "worker" in a public name is a processor.
//!
//! What can't be promised: futures joined inside *one* task still wait for each other, and a poll can't be stopped
//! half-way, so a task that computes goes on using a core until it returns. The kernel shares the core out.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc(test(attr(deny(warnings))))]

pub mod netpoll;
pub mod runtime;
pub mod task;
pub mod time;

#[doc(hidden)]
pub mod bridge;

mod contain;
mod context;
mod metrics;
mod procs;
mod sched;
mod sync;
mod sys;
mod trace;

#[cfg(feature = "macros")]
pub use gmp_macros::{main, test};
#[cfg(gmp_bench)]
#[doc(hidden)]
pub use sched::bench;
pub use task::spawn;
