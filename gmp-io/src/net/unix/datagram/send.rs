//! Sending datagrams. Each operation has three forms: `send*` waits, `try_send*` does not, and
//! `poll_send*` is for `poll` functions.

use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use super::UnixDatagram;
use crate::io::Interest;
use crate::reactor::Direction;

/// Sending. The methods return the number of bytes, which is always that of the whole datagram.
impl UnixDatagram {
    /// Sends a datagram to the peer that the socket is connected to, waiting until its queue has
    /// room.
    ///
    /// # Errors
    ///
    /// The error of the system call: `NotConnected`, or `ConnectionRefused` if the peer is closed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, nothing has been sent.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// assert_eq!(left.send(b"hello").await?, 5);
    /// assert_eq!(right.recv(&mut [0; 16]).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.async_io(Interest::WRITABLE, |socket| socket.send(buf)).await
    }

    /// Sends a datagram to the peer that the socket is connected to, without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else as for [`send`](UnixDatagram::send).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// left.writable().await?;
    /// assert_eq!(left.try_send(b"hello")?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, |socket| socket.send(buf))
    }

    /// As [`send`](UnixDatagram::send). Of several tasks that call this or another `poll_send`
    /// method, only the last one is woken.
    ///
    /// # Errors
    ///
    /// As for [`send`](UnixDatagram::send).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// use std::future::poll_fn;
    ///
    /// assert_eq!(poll_fn(|cx| left.poll_send(cx, b"hello")).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, |socket| socket.send(buf))
    }

    /// Sends a datagram to the socket at a path, waiting until there is room.
    ///
    /// # Errors
    ///
    /// The error of the system call: the path does not exist (`NotFound`), or no socket is bound to
    /// it (`ConnectionRefused`).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, nothing has been sent.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// let server = gmp_io::net::UnixDatagram::bind(&path)?;
    /// let socket = gmp_io::net::UnixDatagram::unbound()?;
    /// assert_eq!(socket.send_to(b"hello", &path).await?, 5);
    /// assert_eq!(server.recv(&mut [0; 16]).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io.async_io(Interest::WRITABLE, |socket| socket.send_to(buf, target.as_ref())).await
    }

    /// Sends a datagram to the socket at a path, without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else as for [`send_to`](UnixDatagram::send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// let server = gmp_io::net::UnixDatagram::bind(&path)?;
    /// let socket = gmp_io::net::UnixDatagram::unbound()?;
    /// socket.writable().await?;
    /// assert_eq!(socket.try_send_to(b"hello", &path)?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }

    /// As [`send_to`](UnixDatagram::send_to). Of several tasks that call this or another
    /// `poll_send` method, only the last one is woken.
    ///
    /// # Errors
    ///
    /// As for [`send_to`](UnixDatagram::send_to).
    pub fn poll_send_to<P: AsRef<Path>>(&self, cx: &mut Context<'_>, buf: &[u8], target: P) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, |socket| socket.send_to(buf, target.as_ref()))
    }
}
