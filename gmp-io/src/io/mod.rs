//! Readiness, the standard streams, and tokio's I/O traits.
//!
//! [`Interest`] says what a task waits for, [`Ready`] what a descriptor is ready for. A task that
//! waits for [`stdin`], [`stdout`] or [`stderr`] does not keep the program from ending. The traits
//! are tokio's own, re-exported so that a program need not name tokio to implement or call them.

use std::io;

mod interest;
mod ready;
mod stdio;
pub(crate) mod uninit;
pub mod unix;

pub use interest::Interest;
pub use ready::Ready;
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
pub use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// Repeats an operation that a signal has interrupted.
pub(crate) fn uninterrupted<R>(mut operation: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
