//! Pipes, without a name ([`pipe`]) or with one (FIFOs, [`OpenOptions`]).
//!
//! Bytes written to the [`Sender`] are read from the [`Receiver`]. A read finds the end of the
//! stream when no process has a sender open any more. A write fails with `BrokenPipe` when no
//! process has a receiver open.

mod end;
mod options;
mod receiver;
mod sender;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

pub use options::OpenOptions;
pub use receiver::Receiver;
pub use sender::Sender;

/// Makes an unnamed pipe.
///
/// To pass one of the ends to another process, convert it with
/// [`into_blocking_fd`](Sender::into_blocking_fd).
///
/// # Errors
///
/// There are no descriptors left.
///
/// # Panics
///
/// If there is no current runtime, or if its I/O is not enabled.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::unix::pipe;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let (mut sender, mut receiver) = pipe::pipe()?;
/// gmp_exec::spawn(async move { sender.write_all(b"hello").await });
///
/// let mut received = String::new();
/// receiver.read_to_string(&mut received).await?;
/// assert_eq!(received, "hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (sender, receiver) = mio::unix::pipe::new()?;
    let [sender, receiver] = [OwnedFd::from(sender), OwnedFd::from(receiver)].map(File::from);
    Ok((Sender::new(sender)?, Receiver::new(receiver)?))
}
