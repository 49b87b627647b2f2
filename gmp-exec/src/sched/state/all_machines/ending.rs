//! Threads that have left `AllMachines` and are ending, until another thread joins them.
//!
//! While the runtime lives, each thread that leaves joins the threads that left before it. So only
//! a few threads are unjoined at any time, which matters because the system keeps the stack of a
//! thread until it is joined. A thread that waits for the end of the runtime joins them all, so
//! that threads that leave at the same moment need not end one after the other.

use std::time::Instant;

use event_listener::{Event, Listener};

use crate::contain::discard;
use crate::sync::thread::{Builder, JoinHandle};

#[derive(Debug, Default)]
pub(in crate::sched) struct Ending {
    pub(in crate::sched) threads: Vec<JoinHandle<()>>,
    /// A thread waits for the end of the runtime and will call `take`.
    pub(in crate::sched) is_awaited: bool,
}

impl Ending {
    /// The threads that a leaving thread must join.
    pub(in crate::sched) fn predecessors(&mut self) -> Vec<JoinHandle<()>> {
        if self.is_awaited { Vec::new() } else { std::mem::take(&mut self.threads) }
    }

    pub(in crate::sched) fn take(&mut self) -> Vec<JoinHandle<()>> {
        self.is_awaited = false;
        std::mem::take(&mut self.threads)
    }
}

pub(in crate::sched) fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap_or_else(discard);
    }
}

/// A join has no limit, so another thread joins them. If that thread can't be started they are not
/// joined.
pub(in crate::sched) fn join_until(threads: Vec<JoinHandle<()>>, deadline: Instant) {
    if threads.is_empty() || deadline <= Instant::now() {
        return;
    }
    let joined = Event::new();
    let all_joined = joined.listen();
    let joiner = Builder::new().name("gmp-joiner".to_owned()).spawn(move || {
        join(threads);
        joined.notify(usize::MAX);
    });
    if let Ok(joiner) = joiner {
        if all_joined.wait_deadline(deadline).is_some() {
            join(vec![joiner]);
        }
    }
}
