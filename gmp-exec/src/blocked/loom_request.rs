//! The report thread reads the answer to its own request, and whole.
//!
//! Seen to fail when the end of the answer is stored relaxed.

use loom::thread;

use super::request::Request;
use crate::sched::tests::explore;
use crate::sync::Arc;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;

/// An answer in two parts.
struct Stand {
    request: Request,
    parts: [AtomicU64; 2],
}

impl Stand {
    fn new() -> Arc<Stand> {
        Arc::new(Stand { request: Request::new(), parts: [AtomicU64::new(0), AtomicU64::new(0)] })
    }

    /// The handler, on a thread that has got the signal.
    fn handle(&self, thread: u32) {
        if self.request.begin(thread) {
            self.parts.iter().for_each(|part| part.store(u64::from(thread), Relaxed));
            self.request.end(thread);
        }
    }

    /// Asks, and gives up sooner or later. The answer, if there is one.
    fn ask(&self, thread: u32) -> Option<[u64; 2]> {
        self.request.ask(thread);
        if !self.request.is_answered() && self.request.give_up(thread) {
            return None;
        }
        while !self.request.is_answered() {
            thread::yield_now();
        }
        Some([0, 1].map(|part| self.parts[part].load(Relaxed)))
    }
}

#[test]
fn loom_request_is_answered_by_the_thread_that_was_asked() {
    explore(3, || {
        let stand = Stand::new();
        let handlers: Vec<_> = [1, 2]
            .into_iter()
            .map(|id| {
                let stand = stand.clone();
                thread::spawn(move || stand.handle(id))
            })
            .collect();
        for id in [1, 2] {
            if let Some(answer) = stand.ask(id) {
                assert_eq!(answer, [u64::from(id); 2]);
            }
        }
        handlers.into_iter().for_each(|handler| handler.join().unwrap());
    });
}
