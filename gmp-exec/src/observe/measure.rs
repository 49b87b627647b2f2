//! Poll times and scheduling latencies, where the builder asks for them.
//!
//! A duration counts for the processor that the machine has acquired last: the poll of a known hog has
//! no processor, and a long poll may lose its processor.

use std::time::Duration;

use crate::metrics::{Histograms, Measuring};
use crate::sched::Local;
use crate::task::Header;

/// A poll that is measured.
pub(crate) struct Measured {
    begin: u64,
    /// How long the task was scheduled, in nanoseconds.
    latency: Option<u64>,
}

impl Measured {
    /// For the hooks.
    pub(crate) fn latency(&self) -> Option<Duration> {
        self.latency.map(Duration::from_nanos)
    }
}

pub(super) fn begin(local: &Local, task: &Header) -> Measured {
    let measuring = &local.scheduler.observers.measuring;
    let stamp = task.progress.stamped();
    let begin = if measuring.polls || stamp.is_some() { measuring.now() } else { 0 };
    let latency = stamp.map(|stamp| stamp.age(begin));
    if let (Some(latencies), Some(latency)) = (&histograms(local).latencies, latency) {
        latencies.record(latency);
    }
    Measured { begin, latency }
}

pub(super) fn end(local: &Local, measured: Measured) {
    if let Some(polls) = &histograms(local).polls {
        polls.record(local.scheduler.observers.measuring.now().saturating_sub(measured.begin));
    }
}

fn histograms(local: &Local) -> &Histograms {
    &local.scheduler.processors[local.last_processor.get()].histograms
}

/// Stamps a task if the scheduling with number `n` is one of those that are measured. The submitter
/// has the task's `Runnable`, so no other thread writes the stamp; the machine that polls the task
/// reads the stamp.
pub(super) fn stamp(measuring: &Measuring, task: &Header, n: u32) {
    if measuring.is_sampled(n) {
        task.progress.stamp(measuring.now());
    }
}
