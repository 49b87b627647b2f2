//! Sending and receiving. Each operation in three forms: one that waits, one that only tries, and one for `poll` functions.

use std::io;
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll};

use bytes::BufMut;
use rustix::net::RecvFlags;

use super::UnixDatagram;
use crate::io::{Interest, ReadBuf, uninit};
use crate::net::unix::SocketAddr;
use crate::reactor::{Attempt, Direction};

/// Sending. Returns the number of bytes, which is always that of the whole datagram.
impl UnixDatagram {
    /// Sends a datagram to the peer that the socket is connected to, waiting until its queue has room.
    ///
    /// # Errors
    ///
    /// The system's: `NotConnected`, or `ConnectionRefused` when the peer is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done has sent nothing.
    pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.async_io(Interest::WRITABLE, || self.io.io().send(buf)).await
    }

    /// Sends a datagram to the peer that the socket is connected to, without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else as for [`send`](UnixDatagram::send).
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_io(Interest::WRITABLE, || self.io.io().send(buf))
    }

    /// As [`send`](UnixDatagram::send). Of several tasks that call this or another `poll_send` method, only the last one is
    /// woken.
    ///
    /// # Errors
    ///
    /// As for [`send`](UnixDatagram::send).
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_sending(cx, |socket| socket.send(buf))
    }

    /// Sends a datagram to the socket at a path, waiting until there is room.
    ///
    /// # Errors
    ///
    /// The system's: nothing is there (`NotFound`), or nobody (`ConnectionRefused`).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done has sent nothing.
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.async_io(Interest::WRITABLE, || self.io.io().send_to(buf, target.as_ref())).await
    }

    /// Sends a datagram to the socket at a path, without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else as for [`send_to`](UnixDatagram::send_to).
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.try_io(Interest::WRITABLE, || self.io.io().send_to(buf, target))
    }

    /// As [`send_to`](UnixDatagram::send_to). Of several tasks that call this or another `poll_send` method, only the last one
    /// is woken.
    ///
    /// # Errors
    ///
    /// As for [`send_to`](UnixDatagram::send_to).
    pub fn poll_send_to<P: AsRef<Path>>(&self, cx: &mut Context<'_>, buf: &[u8], target: P) -> Poll<io::Result<usize>> {
        self.poll_sending(cx, |socket| socket.send_to(buf, target.as_ref()))
    }

    fn poll_sending<R>(
        &self,
        cx: &mut Context<'_>,
        send: impl Fn(&net::UnixDatagram) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.registration().poll_io(cx, Direction::Write, || send(self.io.io()).map(Attempt::Done))
    }
}

/// Receiving. Returns the number of bytes that there was room for; what goes beyond is gone.
impl UnixDatagram {
    /// Waits for a datagram.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done loses no datagram.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.async_io(Interest::READABLE, || self.io.io().recv(buf)).await
    }

    /// Receives a datagram if there is one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_io(Interest::READABLE, || self.io.io().recv(buf))
    }

    /// Receives a datagram if there is one, else makes sure that the task is woken when one has come. What is received is
    /// added to `buf`.
    ///
    /// Of several tasks that call this or another `poll_recv` method, only the last one is woken.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receiving(cx, || uninit::recv(self.io.io(), buf, RecvFlags::empty()).map(drop))
    }

    /// Waits for a datagram, and returns who sent it too.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done loses no datagram.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.async_io(Interest::READABLE, || receive_from(self.io.io(), &mut ReadBuf::new(buf))).await
    }

    /// Receives a datagram if there is one, and returns who sent it too.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_io(Interest::READABLE, || receive_from(self.io.io(), &mut ReadBuf::new(buf)))
    }

    /// As [`poll_recv`](UnixDatagram::poll_recv), and returns who sent it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn poll_recv_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_receiving(cx, || receive_from(self.io.io(), buf).map(|(_, sender)| sender))
    }

    /// Waits for a datagram, which goes into the spare room of `buf`.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done loses no datagram.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let (left, right) = UnixDatagram::pair()?;
    /// left.send(b"hello, ").await?;
    /// left.send(b"world").await?;
    ///
    /// let mut received = Vec::with_capacity(64);
    /// right.recv_buf(&mut received).await?;
    /// right.recv_buf(&mut received).await?;
    /// assert_eq!(received, b"hello, world");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.async_io(Interest::READABLE, || uninit::recv_buf(self.io.io(), buf)).await
    }

    /// Receives a datagram, if there is one, into the spare room of `buf`.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_io(Interest::READABLE, || uninit::recv_buf(self.io.io(), buf))
    }

    /// Waits for a datagram, which goes into the spare room of `buf`, and returns who sent it too.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done loses no datagram.
    pub async fn recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.async_io(Interest::READABLE, || receive_buf_from(self.io.io(), buf)).await
    }

    /// Receives a datagram, if there is one, into the spare room of `buf`, and returns who sent it too.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.try_io(Interest::READABLE, || receive_buf_from(self.io.io(), buf))
    }

    fn poll_receiving<R>(
        &self,
        cx: &mut Context<'_>,
        mut receive: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.registration().poll_io(cx, Direction::Read, || receive().map(Attempt::Done))
    }
}

fn receive_from(socket: &net::UnixDatagram, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SocketAddr)> {
    let (n, sender) = uninit::recv_from(socket, buf, RecvFlags::empty())?;
    Ok((n, SocketAddr::from_system(sender)?))
}

fn receive_buf_from(socket: &net::UnixDatagram, buf: &mut impl BufMut) -> io::Result<(usize, SocketAddr)> {
    let (n, sender) = uninit::recv_buf_from(socket, buf)?;
    Ok((n, SocketAddr::from_system(sender)?))
}
