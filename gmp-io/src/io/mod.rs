//! The words in which readiness is asked for and reported, and tokio's I/O traits.
//!
//! [`Interest`] says what a task waits for, [`Ready`] what it got. The traits are tokio's own, re-exported so that a program
//! need not name tokio to implement or call them.

mod interest;
mod ready;
pub(crate) mod uninit;

pub use interest::Interest;
pub use ready::Ready;
pub use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
