//! The scheduler: G, M, P.
//!
//! A *task* (G) is a future. A *processor* (P) is the right to run tasks, with a queue; there are
//! as many as tasks may run at a time. A *machine* (M) is a thread, which runs tasks while it holds
//! a processor. The model is Go's, except for how a processor moves from a stuck thread to another.
//! A poll can't be interrupted, so the scheduler takes the processor from the machine instead of
//! taking the task from the processor. README.md in this folder leads through the scheduler and has
//! the glossary; those in the folders below have the protocols.
//!
//! The modules stand in reading order. `state` is the data that machines share; it does not act.
//! Every other module acts on that data.

pub(crate) mod state;

pub(crate) mod config;
mod scheduler;

mod local;
mod run;

mod park;
pub(crate) mod submit;

pub(crate) mod handoff;
pub(crate) mod hogs;
pub(crate) mod sysmon;

pub(crate) mod closures;
pub(crate) mod current_thread;
pub(crate) mod resize;
pub(crate) mod shutdown;

#[cfg(all(test, any(loom, shuttle)))]
pub(crate) mod tests;

#[cfg(gmp_bench)]
pub mod bench;

pub(crate) use local::Local;
pub(crate) use scheduler::{Scheduler, SchedulerRef};
pub(crate) use shutdown::task_panic::RUNTIME_SHUT_DOWN;
pub(crate) use submit::{submit, submit_new};
