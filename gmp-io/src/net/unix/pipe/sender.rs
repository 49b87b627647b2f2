//! The writing end of a pipe.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::OFlags;

use super::end::pipe_end;
use crate::io::Interest;
use crate::net::readiness::writable_methods;
use crate::net::transfer::{async_write, writing_methods};
use crate::reactor::{Attempt, ByteSink, Evented};

/// The writing end of a pipe, from [`pipe`](super::pipe) or
/// [`open_sender`](super::OpenOptions::open_sender).
///
/// Write through tokio's [`AsyncWrite`](crate::io::AsyncWrite), or without waiting through
/// [`try_write`](Sender::try_write). Dropping the sender closes it. `shutdown` of `AsyncWrite` does
/// nothing, because a pipe has only one direction.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::unix::pipe;
///
/// let (sender, receiver) = pipe::pipe()?;
/// sender.writable().await?;
/// assert_eq!(sender.try_write(b"hello")?, 5);
///
/// drop(receiver);
/// let error = sender.try_write(b"no reader").unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct Sender {
    io: Evented<File>,
}

pipe_end! { Sender, Interest::WRITABLE, OFlags::WRONLY, "not in O_WRONLY or O_RDWR access mode" }
writable_methods! { Sender, poll_write_ready }
writing_methods! { Sender }
async_write! { Sender }

impl Sender {
    fn close(&self) -> io::Result<()> {
        self.io.close_writing()
    }
}

impl ByteSink for File {
    /// A short write says nothing: the system may have run out of memory half-way. The pipe is not
    /// full then, and the system reports an event only when a full pipe is read from.
    fn put(&self, buf: &[u8]) -> io::Result<Attempt<usize>> {
        let mut file = self;
        file.write(buf).map(Attempt::Done)
    }

    /// Does nothing: a pipe has no direction that could be closed alone.
    fn close_writing(&self) -> io::Result<()> {
        Ok(())
    }
}
