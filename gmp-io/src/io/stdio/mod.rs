//! Standard input, output and error.
//!
//! These three can't be made non-blocking: the flag belongs to the open file, which other processes share, and a shell would
//! find its terminal broken. So somebody has to sit in a blocking call. If that somebody is a thread of the runtime, a
//! program that has once asked for a line doesn't end before the user has pressed a key.
//!
//! The rule: **what may block for good happens on a thread that belongs to no runtime** (a [`Lane`](lane::Lane)), and what
//! is on its way there is never lost with a cancelled task.
//!
//! | stream | the lane | the task |
//! |---|---|---|
//! | input | reads | takes what was read, whoever asked for it |
//! | output, error | waits until there is room | writes, in pieces that then don't block |
//!
//! So a write that was accepted has been made: no flush at the end of `main` is lost, and shutdown has nothing to wait for.
//! All three go through the standard library's own handles, so their buffers and the order beside `println!` stay right.
//!
//! Rejected: tokio's way, closures on the runtime's threads, for the reason above; and waiting for readiness through the
//! reactor, which can't see what the standard library has already read into its buffer, and needs I/O enabled.

mod inlet;
mod lane;
mod outlet;

pub use inlet::{Stdin, stdin};
pub use outlet::{Stderr, Stdout, stderr, stdout};
