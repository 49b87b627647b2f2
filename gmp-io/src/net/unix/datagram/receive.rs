//! Receiving datagrams. Each operation has three forms: `recv*` waits, `try_recv*` does not, and
//! `poll_recv*` is for `poll` functions.

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

/// Receiving. The methods return the number of bytes that fit into the buffer; the rest of a
/// datagram is lost.
impl UnixDatagram {
    /// Waits for a datagram.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// # left.send(b"hello").await?;
    /// let mut buf = [0; 16];
    /// assert_eq!(right.recv(&mut buf).await?, 5);
    /// assert_eq!(&buf[..5], b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receive(|socket| socket.recv(buf)).await
    }

    /// Receives a datagram if there is one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// # left.send(b"hello").await?;
    /// right.readable().await?;
    /// assert_eq!(right.try_recv(&mut [0; 16])?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_receive(|socket| socket.recv(buf))
    }

    /// Receives a datagram if there is one, and adds it to `buf`. Otherwise the task is woken when
    /// one arrives.
    ///
    /// Of several tasks that call this or another `poll_recv` method, only the last one is woken.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// # left.send(b"hello").await?;
    /// use std::future::poll_fn;
    ///
    /// use gmp_io::io::ReadBuf;
    ///
    /// let mut room = [0; 16];
    /// let mut buf = ReadBuf::new(&mut room);
    /// poll_fn(|cx| right.poll_recv(cx, &mut buf)).await?;
    /// assert_eq!(buf.filled(), b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receive(cx, |socket| uninit::recv(socket, buf, RecvFlags::empty())).map_ok(drop)
    }

    /// Waits for a datagram, and returns the sender too.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// # left.send(b"hello").await?;
    /// let (n, sender) = right.recv_from(&mut [0; 16]).await?;
    /// assert_eq!(n, 5);
    /// assert!(sender.is_unnamed());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(|socket| socket.recv_from(buf).map(from_std)).await
    }

    /// Receives a datagram if there is one, and returns the sender too.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// # left.send(b"hello").await?;
    /// right.readable().await?;
    /// assert_eq!(right.try_recv_from(&mut [0; 16])?.0, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receive(|socket| socket.recv_from(buf).map(from_std))
    }

    /// As [`poll_recv`](UnixDatagram::poll_recv), and returns the sender.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    pub fn poll_recv_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_receive(cx, |socket| uninit::recv_from_unix(socket, buf).map(from_socket2))
            .map_ok(|(_, sender)| sender)
    }

    /// Waits for a datagram, and puts it into the spare room of `buf`.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
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
    /// `WouldBlock` if there is none; else the error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let (left, right) = gmp_io::net::UnixDatagram::pair()?;
    /// # left.send(b"hello").await?;
    /// let mut received = Vec::with_capacity(16);
    /// right.readable().await?;
    /// right.try_recv_buf(&mut received)?;
    /// assert_eq!(received, b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_receive(|socket| uninit::recv_buf(socket, buf))
    }

    /// Waits for a datagram, puts it into the spare room of `buf`, and returns the sender too.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    pub async fn recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.receive(|socket| uninit::recv_buf_from_unix(socket, buf).map(from_socket2)).await
    }

    /// Receives a datagram, if there is one, into the spare room of `buf`, and returns the sender
    /// too.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; else the error of the system call.
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.try_receive(|socket| uninit::recv_buf_from_unix(socket, buf).map(from_socket2))
    }

    async fn receive<R: EmptyDatagram>(
        &self,
        mut receive: impl FnMut(&net::UnixDatagram) -> io::Result<R>,
    ) -> io::Result<R> {
        self.io.async_io(Interest::READABLE, |socket| self.or_closed(receive(socket))).await
    }

    fn try_receive<R: EmptyDatagram>(
        &self,
        receive: impl FnOnce(&net::UnixDatagram) -> io::Result<R>,
    ) -> io::Result<R> {
        self.io.try_io(Interest::READABLE, |socket| self.or_closed(receive(socket)))
    }

    fn poll_receive<R: EmptyDatagram>(
        &self,
        cx: &mut Context<'_>,
        mut receive: impl FnMut(&net::UnixDatagram) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.poll_io(cx, Direction::Read, |socket| self.or_closed(receive(socket)))
    }

    /// Where a blocking socket that was shut down returns an empty datagram, a non-blocking socket
    /// is reported as ready but answers `WouldBlock`, so a task that waits would try again without
    /// end.
    fn or_closed<R: EmptyDatagram>(&self, result: io::Result<R>) -> io::Result<R> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.io.registration().is_read_closed() => {
                Ok(R::empty())
            }
            result => result,
        }
    }
}

/// The result of receiving from a socket that was shut down.
trait EmptyDatagram {
    fn empty() -> Self;
}

impl EmptyDatagram for usize {
    fn empty() -> Self {
        0
    }
}

impl EmptyDatagram for (usize, SocketAddr) {
    fn empty() -> Self {
        (0, SocketAddr::unnamed())
    }
}

fn from_std((n, sender): (usize, net::SocketAddr)) -> (usize, SocketAddr) {
    (n, sender.into())
}

fn from_socket2((n, sender): (usize, SockAddr)) -> (usize, SocketAddr) {
    (n, SocketAddr::from_socket2(&sender))
}
