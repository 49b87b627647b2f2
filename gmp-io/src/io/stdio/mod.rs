//! Standard input, output and error.
//!
//! The standard streams can't be made non-blocking: the flag belongs to the open file, which other
//! processes share, so a shell would find its terminal broken. So a thread has to block. If that
//! were a thread of the runtime, a program that has once asked for a line could not end before the
//! user presses a key.
//!
//! The rule: **a call that may block without limit is made on a thread that belongs to no runtime**
//! (a [`BlockingThread`](blocking_thread::BlockingThread)), and data on its way through that thread
//! is never lost when a task is cancelled.
//!
//! | stream | the thread | the task |
//! |---|---|---|
//! | input | reads | takes the bytes that were read, for whichever task |
//! | output, error | waits until there is room | writes, in pieces that do not block |
//!
//! So an accepted write has been carried out: no flush at the end of `main` is lost, and shutdown
//! has nothing to wait for. All three streams use the standard library's handles, so buffering and
//! the order relative to `println!` are right.
//!
//! Rejected: tokio's way, closures on the runtime's threads, for the reason above; and waiting for
//! readiness through the reactor, which can't see the bytes in the standard library's buffer and
//! needs I/O enabled.

mod blocking_thread;
mod input;
mod output;

pub use input::{Stdin, stdin};
pub use output::{Stderr, Stdout, stderr, stdout};
