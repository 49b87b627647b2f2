//! Models of the scheduler's protocols: loom explores each protocol alone in all interleavings,
//! shuttle runs the whole scheduler in many random ones. Models that need a file's private parts
//! are beside that file.
//!
//! A model proves its worth when the protocol is broken on purpose. So the docs of the models name
//! the breakages that each model was seen to find. A breakage that is not named was not tried, or
//! not found.
#![allow(unsafe_code, reason = "vouches for owner proofs")]

pub(crate) mod gate;
#[cfg(loom)]
mod loom_global_queue;
#[cfg(loom)]
mod loom_handoff;
#[cfg(loom)]
mod loom_local_queue;
#[cfg(loom)]
mod loom_netpoll_gate;
#[cfg(loom)]
mod loom_ownership;
#[cfg(loom)]
mod loom_parking;
#[cfg(loom)]
mod loom_permits;
#[cfg(loom)]
mod loom_resize;
#[cfg(loom)]
mod loom_runnext;
#[cfg(loom)]
mod loom_running;
#[cfg(loom)]
mod loom_shutdown;
#[cfg(loom)]
mod loom_sysmon;
#[cfg(loom)]
mod marks;
#[cfg(loom)]
pub(crate) mod stage;

#[cfg(shuttle)]
mod crowd;
#[cfg(shuttle)]
mod shuttle_blocking;
#[cfg(shuttle)]
mod shuttle_current_thread;
#[cfg(shuttle)]
mod shuttle_netpoll;
#[cfg(shuttle)]
mod shuttle_tasks;

#[cfg(gmp_lines)]
mod lines;

/// Explores `body` with at most `preemptions` preemptions. Each model uses as many as take a few
/// seconds.
#[cfg(loom)]
pub(crate) fn explore(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(body);
}
