//! The scheduler: G, M, P.
//!
//! A *task* (G) is a future. A *processor* (P) is the right to run tasks, with a queue; there are as many as tasks may
//! run at a time. A *machine* (M) is a thread, which runs tasks while it holds a processor. The model is Go's; what is
//! new is how a processor changes hands, because a poll can't be interrupted: it is taken from the machine, not the task
//! from the processor. README.md in this folder has the protocols and the glossary.
//!
//! Reading order: `run` (what a machine does all day), `find_runnable` (the order of looking), `retire` (what a
//! machine does that has found nothing), `submit` (where a task goes when it is woken), `ownership` and `idle` (the two
//! protocols), `sysmon` and `handoff` (what happens to a stuck machine).

mod anchor;
pub(crate) mod current_thread;
mod deferred;
mod find_runnable;
pub(crate) mod global_queue;
pub(crate) mod handoff;
mod idle;
pub(crate) mod local_queue;
pub(crate) mod machine;
mod owner_proof;
mod ownership;
mod poller;
mod processor;
mod retire;
mod run;
mod runnext;
mod scheduler;
pub(crate) mod shutdown;
mod spill;
mod steal;
mod submit;

#[cfg(all(test, any(loom, shuttle)))]
pub(crate) mod tests;

#[cfg(gmp_bench)]
pub mod bench;

mod admission;
mod closures;
mod ending;
mod hogs;
pub(crate) mod last_poll;
mod overdue;
mod roster;
mod sysmon;

pub(crate) use anchor::Anchor;
pub(crate) use hogs::learn;
pub(crate) use machine::{Local, Machine};
pub(crate) use owner_proof::OwnerProof;
pub(crate) use roster::TaskCounters;
pub(crate) use scheduler::Scheduler;
pub(crate) use submit::submit;
