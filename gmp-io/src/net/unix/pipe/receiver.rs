//! The reading end of a pipe.

use std::fs::File;
use std::io;

use bytes::BufMut;
use rustix::fs::OFlags;

use super::end::pipe_end;
use crate::io::{Interest, ReadBuf, uninit};
use crate::net::readiness::readable_methods;
use crate::net::transfer::reading_methods;
use crate::reactor::{Attempt, ByteSource, Evented};

/// The reading end of a pipe, from [`pipe`](super::pipe) or
/// [`open_receiver`](super::OpenOptions::open_receiver).
///
/// Read through tokio's [`AsyncRead`](crate::io::AsyncRead), or without waiting through
/// [`try_read`](Receiver::try_read) and similar methods. When the last sender of a FIFO is closed,
/// reads find the end of the stream, until a process opens the FIFO for writing again.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::unix::pipe;
///
/// let (sender, receiver) = pipe::pipe()?;
/// sender.writable().await?;
/// sender.try_write(b"hello")?;
///
/// receiver.readable().await?;
/// let mut received = Vec::with_capacity(16);
/// receiver.try_read_buf(&mut received)?;
/// assert_eq!(received, b"hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct Receiver {
    io: Evented<File>,
}

pipe_end! { Receiver, Interest::READABLE, OFlags::RDONLY, "not in O_RDONLY or O_RDWR access mode" }
readable_methods! { Receiver, poll_read_ready }
reading_methods! { Receiver }

impl ByteSource for File {
    /// A short read says nothing: a pipe may be in packet mode, and a file that was taken over
    /// unchecked may be a terminal, which returns one line at a time.
    fn fill(&self, buf: &mut ReadBuf<'_>) -> io::Result<Attempt<()>> {
        uninit::read(self, buf)?;
        Ok(Attempt::Done(()))
    }

    fn fill_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        uninit::read_buf(self, buf)
    }
}
