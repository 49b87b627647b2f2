//! Receiving. Each operation in three forms: one that waits, one that only tries, and one for `poll` functions.

use std::io;
use std::os::unix::net;
use std::task::{Context, Poll};

use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::SockAddr;

use super::UnixDatagram;
use crate::io::{Interest, ReadBuf, uninit};
use crate::net::unix::SocketAddr;
use crate::reactor::Direction;

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
        self.receive(|socket| socket.recv(buf)).await
    }

    /// Receives a datagram if there is one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_receive(|socket| socket.recv(buf))
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
        self.poll_receive(cx, |socket| uninit::recv(socket, buf, RecvFlags::empty())).map_ok(drop)
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
        self.receive(|socket| socket.recv_from(buf).map(known)).await
    }

    /// Receives a datagram if there is one, and returns who sent it too.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receive(|socket| socket.recv_from(buf).map(known))
    }

    /// As [`poll_recv`](UnixDatagram::poll_recv), and returns who sent it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn poll_recv_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_receive(cx, |socket| uninit::recv_from_unix(socket, buf).map(found)).map_ok(|(_, sender)| sender)
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
        self.receive(|socket| uninit::recv_buf(socket, buf)).await
    }

    /// Receives a datagram, if there is one, into the spare room of `buf`.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_receive(|socket| uninit::recv_buf(socket, buf))
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
        self.receive(|socket| uninit::recv_buf_from_unix(socket, buf).map(found)).await
    }

    /// Receives a datagram, if there is one, into the spare room of `buf`, and returns who sent it too.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the system's.
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.try_receive(|socket| uninit::recv_buf_from_unix(socket, buf).map(found))
    }

    async fn receive<R: Nothing>(&self, mut receive: impl FnMut(&net::UnixDatagram) -> io::Result<R>) -> io::Result<R> {
        self.io.async_io(Interest::READABLE, |socket| self.or_closed(receive(socket))).await
    }

    fn try_receive<R: Nothing>(&self, receive: impl FnOnce(&net::UnixDatagram) -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::READABLE, |socket| self.or_closed(receive(socket)))
    }

    fn poll_receive<R: Nothing>(
        &self,
        cx: &mut Context<'_>,
        mut receive: impl FnMut(&net::UnixDatagram) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.poll_io(cx, Direction::Read, |socket| self.or_closed(receive(socket)))
    }

    /// Where a blocking socket that was shut down gives an empty datagram, a non-blocking one goes on answering `WouldBlock`
    /// while it is reported as ready, and who waits would try again for ever.
    fn or_closed<R: Nothing>(&self, result: io::Result<R>) -> io::Result<R> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.io.registration().is_read_closed() => {
                Ok(R::nothing())
            }
            result => result,
        }
    }
}

/// What a socket that was shut down gives.
trait Nothing {
    fn nothing() -> Self;
}

impl Nothing for usize {
    fn nothing() -> Self {
        0
    }
}

impl Nothing for (usize, SocketAddr) {
    fn nothing() -> Self {
        (0, SocketAddr::unnamed())
    }
}

fn known((n, sender): (usize, net::SocketAddr)) -> (usize, SocketAddr) {
    (n, sender.into())
}

fn found((n, sender): (usize, SockAddr)) -> (usize, SocketAddr) {
    (n, SocketAddr::from_socket2(&sender))
}
