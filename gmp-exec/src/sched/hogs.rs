//! Tasks that are known to hold on to their thread: the processor goes on before they start.
//!
//! The first offence of a task costs the threshold, because only sysmon finds it. From then on its polls run on a machine
//! without a processor, until one is short again (measured with eight sleeping hogs: longest gap 0.7 ms instead of 13).
//! A task that sleeps in the kernel costs a thread and nothing else. A task that computes competes for the cores, so at
//! most `max_hogs` of those run at a time; the others wait here, and a machine that has finished one goes straight on
//! with the next: known hogs never need a processor.

use super::handoff;
use super::machine::Local;
use super::ownership::Region;
use super::run;
use crate::sync::Mutex;
use crate::task::{Offence, Runnable};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A poll shorter than this ends a task's bad reputation.
pub(crate) const SHORT: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Hogs {
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Machines without a processor whose poll burns CPU.
    running: usize,
    waiting: VecDeque<Runnable>,
    closed: bool,
}

enum Start {
    Now(Runnable),
    /// `most` are running. The task waits.
    Later,
    /// The runtime is shutting down.
    Never(Runnable),
}

impl Hogs {
    pub(crate) fn new(most: usize) -> Hogs {
        Hogs { most, inner: Mutex::new(Inner { running: 0, waiting: VecDeque::new(), closed: false }) }
    }

    /// Counts a hog whose processor is about to be taken. `false`: too many burn already.
    pub(crate) fn try_count(&self) -> bool {
        let mut inner = self.inner.lock();
        let may = inner.running < self.most;
        inner.running += usize::from(may);
        may
    }

    pub(crate) fn uncount(&self) {
        self.inner.lock().running -= 1;
    }

    pub(crate) fn running(&self) -> usize {
        self.inner.lock().running
    }

    fn start(&self, task: Runnable) -> Start {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Start::Never(task);
        }
        if inner.running < self.most {
            inner.running += 1;
            return Start::Now(task);
        }
        inner.waiting.push_back(task);
        Start::Later
    }

    /// A hog's poll has ended: hands its place to the next one, if one waits.
    fn finish(&self) -> Option<Runnable> {
        let mut inner = self.inner.lock();
        let next = inner.waiting.pop_front();
        if next.is_none() {
            inner.running -= 1;
        }
        next
    }

    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut inner = self.inner.lock();
        inner.closed = true;
        inner.waiting.drain(..).collect()
    }
}

/// Polls a known hog. The machine gives its processor on first, if another machine can be had for it.
pub(super) fn execute(local: &Local, task: Runnable, offence: Offence) {
    match offence {
        Offence::Blocked => without_processor(local, task),
        Offence::Burning => match local.scheduler.hogs.start(task) {
            Start::Now(task) => burn(local, task),
            Start::Later => {}
            Start::Never(task) => crate::task::cancel(task),
        },
    }
}

/// Runs hogs one after the other until none waits.
fn burn(local: &Local, task: Runnable) {
    let mut next = Some(task);
    while let Some(task) = next {
        without_processor(local, task);
        next = local.scheduler.hogs.finish();
    }
}

fn without_processor(local: &Local, task: Runnable) {
    handoff::give_on(local);
    local.hog_since.set(Some(Instant::now()));
    run::poll(local, task, Region::Poll);
    local.hog_since.set(None);
}

/// The poll of a task that was not known has ended, after its processor was taken while it was computing.
pub(super) fn finish_unknown(local: &Local) {
    if let Some(task) = local.scheduler.hogs.finish() {
        burn(local, task);
    }
}
