//! What all tasks of a runtime share, and the limits for their children.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use super::keeper::{Request, Requests};
use super::settings::Means;
use super::tally::Tally;
use super::thread_state::ThreadState;
use crate::fake_netpoll::FakeNetpoll;

#[derive(Clone)]
pub(super) struct Program {
    pub(super) tally: &'static Tally,
    /// Of the foreign thread that keeps wakers and sets cells.
    pub(super) requests: Requests,
    pub(super) means: Means,
    /// How many generations may follow.
    pub(super) depth: u32,
    /// How many runtimes may be built inside of one another.
    pub(super) nesting: u32,
    pub(super) netpoll: Option<Arc<FakeNetpoll>>,
    /// What a thread that polls must look like, if it is known.
    pub(super) thread: Option<Arc<ThreadState>>,
    is_ending: Arc<AtomicBool>,
}

impl Program {
    pub(super) fn new(tally: &'static Tally, requests: &Requests, means: Means, depth: u32) -> Program {
        Program {
            tally,
            requests: requests.clone(),
            means,
            depth,
            nesting: 2,
            netpoll: None,
            thread: means.keeps_threads.then(|| Arc::new(ThreadState::of_this_thread())),
            is_ending: Arc::default(),
        }
    }

    /// For the tasks of a runtime that one of these tasks builds on this thread.
    pub(super) fn nested(&self, means: Means) -> Program {
        let depth = self.depth.min(1);
        Program { nesting: self.nesting - 1, ..Program::new(self.tally, &self.requests, means, depth) }
    }

    /// For tasks for which another task blocks a thread: they don't block one themselves, and need
    /// no closure.
    pub(super) fn leaf(&self) -> Program {
        Program { depth: 0, ..self.clone() }
    }

    pub(super) fn child(&self) -> Program {
        Program { depth: self.depth.saturating_sub(1), ..self.clone() }
    }

    /// For the tasks of a `LocalSet` on this thread, which may outlive the runtime and so its
    /// timers.
    pub(super) fn in_local_set(&self) -> Program {
        let may_change_threads = self.means.may_change_threads;
        let means = Means { has_timers: false, may_change_threads, ..Means::of_local_tasks() };
        let thread = Some(Arc::new(ThreadState::of_this_thread()));
        Program { means, thread, ..self.clone() }
    }

    /// For the tasks that a local task spawns on the runtime.
    pub(super) fn of_runtime(&self) -> Program {
        let thread = if self.means.is_local { None } else { self.thread.clone() };
        Program { means: Means { is_local: false, ..self.means }, thread, ..self.clone() }
    }

    /// From now on tasks may be cancelled.
    pub(super) fn begin_end(&self) {
        self.is_ending.store(true, SeqCst);
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(SeqCst)
    }

    /// After the foreign thread's end the request is dropped.
    pub(super) fn ask(&self, request: Request) {
        let _ = self.requests.send(request);
    }
}
