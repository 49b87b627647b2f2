//! The scheduler: G, M, P.
//!
//! A *task* (G) is a future. A *processor* (P) is the right to run tasks, with a queue; there are as many as tasks may
//! run at a time. A *machine* (M) is a thread, which runs tasks while it holds a processor. The model is Go's; what is
//! new is how a processor changes hands, because a poll can't be interrupted: it is taken from the machine, not the task
//! from the processor. README.md in this folder has the protocols and the glossary.
//!
//! The modules stand in reading order. `state` is what machines share; it does not act. Every other module is an act.

pub(crate) mod state;

pub(crate) mod config;
mod scheduler;
mod scheduler_ref;

mod local;
mod poll;
mod run;

mod find_runnable;
mod steal;

mod netpoll;
mod park;

mod submit;
mod threads;
mod wake;

pub(crate) mod handoff;
pub(crate) mod hogs;
pub(crate) mod sysmon;

pub(crate) mod closures;
pub(crate) mod current_thread;
pub(crate) mod shutdown;

#[cfg(all(test, any(loom, shuttle)))]
pub(crate) mod tests;

#[cfg(gmp_bench)]
pub mod bench;

pub(crate) use local::Local;
pub(crate) use scheduler::Scheduler;
pub(crate) use scheduler_ref::SchedulerRef;
pub(crate) use submit::submit;
