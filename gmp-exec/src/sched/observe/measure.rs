//! Measuring polls and scheduling latencies, where the builder asks for it; recording polls;
//! calling the hooks around polls.
//!
//! Without all this a poll executes no instruction for them: `execute` takes the branch that it
//! takes for spinning machines (`AT_POLL` of `state::unusual`). A duration counts for the processor
//! that the machine has acquired last: the poll of a known hog has no processor, and a long poll may
//! lose its processor.

use std::time::Duration;

use crate::sched::local::Local;
use crate::sched::observe::record;
use crate::sched::run::poll::{run_task, settle};
use crate::sched::state::machine::ownership::Region;
use crate::task::{Runnable, poll_watched, run_watched};

/// One poll, and how long it took.
#[inline(never)]
pub(in crate::sched) fn poll(local: &Local, task: Runnable) {
    let measuring = &local.scheduler.measuring;
    let histograms = &local.scheduler.processors[local.last_processor.get()].histograms;
    let stamp = task.metadata().progress.stamped();
    let begin = if measuring.polls || stamp.is_some() { measuring.now() } else { 0 };
    let latency = stamp.map(|stamp| stamp.age(begin));
    if let (Some(latencies), Some(latency)) = (&histograms.latencies, latency) {
        latencies.record(latency);
    }
    record::begin_poll(local, &task);
    run_task(local, task, Region::Poll, |task| poll_watched(task, latency.map(Duration::from_nanos)));
    record::end_poll(local);
    if let Some(polls) = &histograms.polls {
        polls.record(measuring.now().saturating_sub(begin));
    }
    settle(local);
}

/// One poll or closure, which is recorded if the runtime is.
pub(in crate::sched) fn poll_recorded(local: &Local, task: Runnable, region: Region) {
    record::begin_poll(local, &task);
    run_task(local, task, region, run_watched);
    record::end_poll(local);
    settle(local);
}
