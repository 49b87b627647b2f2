//! Reading and writing streams of bytes.
//!
//! All of this takes `&self`, although tokio's traits want `&mut self`: the two halves of a split
//! stream share one descriptor.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::task::{Context, Poll};

use bytes::BufMut;

use super::Evented;
use crate::io::{Interest, ReadBuf};
use crate::reactor::{Attempt, Direction};

/// A descriptor from which bytes are read into memory that need not be initialised. Each type
/// implements this in its own file, for example in `net/tcp/stream.rs`.
pub(crate) trait ByteSource {
    /// Reads once into the unfilled part of `buf`, and says whether there may be more to read.
    fn fill(&self, buf: &mut ReadBuf<'_>) -> io::Result<Attempt<()>>;

    /// Reads once into the spare room of `buf`, and returns the number of bytes.
    fn fill_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize>;
}

/// A descriptor to which bytes are written.
pub(crate) trait ByteSink {
    /// Writes once, and says whether there may be room for more.
    fn put(&self, buf: &[u8]) -> io::Result<Attempt<usize>>;

    /// Closes the writing direction, if it can be closed alone.
    fn close_writing(&self) -> io::Result<()>;
}

/// If a stream moved fewer bytes than asked, the system has no more bytes to read, or no more room
/// to write. If it moved none, that is the end of the stream, which stays ready.
pub(crate) fn less_than_asked<R>(result: R, moved: usize, asked: usize) -> Attempt<R> {
    if 0 < moved && moved < asked { Attempt::Drained(result) } else { Attempt::Done(result) }
}

impl<T> Evented<T>
where
    for<'a> &'a T: Read,
{
    pub(crate) fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_io(Interest::READABLE, |mut io| io.read(buf))
    }

    pub(crate) fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.try_io(Interest::READABLE, |mut io| io.read_vectored(bufs))
    }
}

impl<T: ByteSource> Evented<T> {
    pub(crate) fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_io(Interest::READABLE, |io| io.fill_buf(buf))
    }

    pub(crate) fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_io(cx, Direction::Read, || self.io.fill(buf))
    }
}

impl<T> Evented<T>
where
    for<'a> &'a T: Write,
{
    pub(crate) fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_io(Interest::WRITABLE, |mut io| io.write(buf))
    }

    pub(crate) fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.try_io(Interest::WRITABLE, |mut io| io.write_vectored(bufs))
    }

    /// A short vectored write says nothing about the descriptor: the standard library passes on at
    /// most `IOV_MAX` buffers.
    pub(crate) fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_io(cx, Direction::Write, |mut io| io.write_vectored(bufs))
    }
}

impl<T: ByteSink> Evented<T> {
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.registration.poll_io(cx, Direction::Write, || self.io.put(buf))
    }

    pub(crate) fn close_writing(&self) -> io::Result<()> {
        self.io.close_writing()
    }
}
