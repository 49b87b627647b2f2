//! Waiting for readiness, and operations that don't wait.
//!
//! For code that wants to do the operation itself, or to read and write from one task without `select!`. The pattern is
//! always: wait until ready, try, and start over on `WouldBlock`, because readiness is a hint.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};

use bytes::BufMut;

use super::TcpStream;
use crate::io::{Interest, uninit};
use crate::net::readiness::readiness_methods;

readiness_methods! { TcpStream, "connection", poll_read_ready, poll_write_ready }

impl TcpStream {
    /// Reads what is there, without waiting. Returns the number of bytes; 0 means that the peer has stopped writing, or
    /// that `buf` is empty.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing is there; else the system's.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_reading(|mut socket| socket.read(buf))
    }

    /// Reads what is there into several buffers, one after the other, without waiting. Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing is there; else the system's.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.try_reading(|mut socket| socket.read_vectored(bufs))
    }

    /// Reads what is there into the spare room of `buf`, without waiting. Returns the number of bytes, by which `buf` has
    /// been advanced.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing is there; else the system's.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (stream, (peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// # peer.try_write(b"ping")?;
    /// let mut received = Vec::with_capacity(1024);
    /// stream.readable().await?;
    /// stream.try_read_buf(&mut received)?;
    /// assert_eq!(received, b"ping");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_reading(|socket| uninit::recv_buf(socket, buf))
    }

    /// Writes what there is room for, without waiting. Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else the system's.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_writing(|mut socket| socket.write(buf))
    }

    /// Writes what there is room for out of several buffers, one after the other, without waiting. Returns the number of
    /// bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else the system's.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.try_writing(|mut socket| socket.write_vectored(bufs))
    }

    fn try_reading<R>(&self, read: impl FnOnce(&std::net::TcpStream) -> io::Result<R>) -> io::Result<R> {
        self.try_io(Interest::READABLE, || read(self.io.io()))
    }

    fn try_writing<R>(&self, write: impl FnOnce(&std::net::TcpStream) -> io::Result<R>) -> io::Result<R> {
        self.try_io(Interest::WRITABLE, || write(self.io.io()))
    }
}
