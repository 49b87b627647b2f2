//! A request to the handler of a signal, which runs on the thread that is asked.
//!
//! | report thread | handler, on the asked thread |
//! |---|---|
//! | A1 word = (thread, asked) (Release), and sends the signal | B1 word: (this thread, asked) -> (this thread, answering), or returns |
//! | A2 word = (thread, answered)? (Acquire) reads the answer | B2 writes the answer |
//! | A3 gives up: word: (thread, asked) -> 0, or goes on with A2 | B3 word = (this thread, answered) (Release) |
//!
//! *Claim: the report thread reads whole answers of the thread that it has asked, and no handler
//! writes while it reads.* One request is made at a time, and only after the answer to the one
//! before, or after A3. B1 and A3 change the word from the same value, so one of them fails: after
//! A3 no handler answers, and after B1 the report thread waits for B3. A signal that comes late
//! finds no request for its thread, or a newer one, which it answers. *With the thread in a word of
//! its own*, a late handler could answer a request that was made to another thread between its two
//! looks. *With a relaxed B3 or A2* the report thread may read an old answer.
//!
//! Model: `loom_request_*`.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;

#[derive(Debug)]
pub(super) struct Request(AtomicU64);

const ASKED: u64 = 1 << 32;
const ANSWERING: u64 = 2 << 32;
const ANSWERED: u64 = 3 << 32;

impl Request {
    pub(super) fn new() -> Request {
        Request(AtomicU64::new(0))
    }

    // ---- the report thread ----

    /// Asks a thread. The request before was answered or given up.
    pub(super) fn ask(&self, thread: u32) {
        self.0.store(ASKED | u64::from(thread), Release); // A1
    }

    pub(super) fn is_answered(&self) -> bool {
        self.0.load(Acquire) & ANSWERED == ANSWERED // A2
    }

    /// Whether no handler has begun to answer, and none will.
    pub(super) fn give_up(&self, thread: u32) -> bool {
        self.0.compare_exchange(ASKED | u64::from(thread), 0, Relaxed, Relaxed).is_ok() // A3
    }

    // ---- the handler ----

    /// Whether this thread is asked. If so, it must answer.
    #[must_use = "the report thread waits for an answer"]
    pub(super) fn begin(&self, thread: u32) -> bool {
        let (asked, answering) = (ASKED | u64::from(thread), ANSWERING | u64::from(thread));
        self.0.compare_exchange(asked, answering, Acquire, Relaxed).is_ok() // B1
    }

    pub(super) fn end(&self, thread: u32) {
        self.0.store(ANSWERED | u64::from(thread), Release); // B3
    }
}
