//! Receiving datagrams.

use std::io;
use std::net::{self, SocketAddr};
use std::task::{Context, Poll};

use bytes::BufMut;
use rustix::net::RecvFlags;

use super::{UdpSocket, sender};
use crate::io::{Interest, ReadBuf, uninit};
use crate::reactor::Direction;

/// Receiving.
///
/// Each call receives one datagram, and discards the part that does not fit into the buffer. A
/// result of 0 bytes is a datagram without contents.
///
/// Errors are those of the system call. On a connected socket an error may be about a datagram sent
/// earlier: `ConnectionRefused` if the peer's system has answered that no process listens there.
/// As on tokio, such an error ends the wait of an `async` method, but not that of a `poll_*` method or of
/// [`readable`](UdpSocket::readable), which go on waiting for a datagram.
impl UdpSocket {
    /// Waits for a datagram and returns its length. If the socket isn't connected, the datagram may
    /// come from any address: use [`recv_from`](UdpSocket::recv_from).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut buf = [0; 1500];
    /// let n = socket.recv(&mut buf).await?;
    /// assert_eq!(&buf[..n], b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receiving(|socket| socket.recv(buf)).await
    }

    /// Receives a datagram into the unfilled part of `buf` if there is one. Otherwise the task is
    /// woken when one arrives. Of several tasks that call a `poll_*` method that receives, only the
    /// last one is woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// use std::future::poll_fn;
    ///
    /// use gmp_io::io::ReadBuf;
    ///
    /// let mut room = [0; 1500];
    /// let mut buf = ReadBuf::new(&mut room);
    /// poll_fn(|cx| socket.poll_recv(cx, &mut buf)).await?;
    /// assert_eq!(buf.filled(), b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receiving(cx, |socket| uninit::recv(socket, buf, RecvFlags::empty())).map_ok(drop)
    }

    /// Receives a datagram without waiting. `WouldBlock` means that there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// use std::io::ErrorKind::WouldBlock;
    ///
    /// let mut buf = [0; 1500];
    /// let n = loop {
    ///     socket.readable().await?;
    ///     match socket.try_recv(&mut buf) {
    ///         Err(error) if error.kind() == WouldBlock => continue,
    ///         result => break result?,
    ///     }
    /// };
    /// assert_eq!(&buf[..n], b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_receiving(|socket| socket.recv(buf))
    }

    /// Waits for a datagram, puts it into the spare room of `buf`, and returns its length. A `Vec`
    /// without spare room grows only a little, too little for most datagrams: reserve as much as is
    /// expected.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut received = Vec::with_capacity(1500);
    /// assert_eq!(socket.recv_buf(&mut received).await?, 5);
    /// assert_eq!(received, b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.receiving(|socket| uninit::recv_buf(socket, buf)).await
    }

    /// Receives a datagram into the spare room of `buf`, without waiting. `WouldBlock` means that
    /// there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut received = Vec::with_capacity(1500);
    /// socket.readable().await?;
    /// assert_eq!(socket.try_recv_buf(&mut received)?, 5);
    /// assert_eq!(received, b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_receiving(|socket| uninit::recv_buf(socket, buf))
    }

    /// Waits for a datagram and returns its length and sender.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut buf = [0; 1500];
    /// let (n, sender) = socket.recv_from(&mut buf).await?;
    /// assert_eq!(&buf[..n], b"hello");
    /// assert_eq!(sender, socket.local_addr()?, "sent to itself");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receiving(|socket| socket.recv_from(buf)).await
    }

    /// Receives a datagram into the unfilled part of `buf` if there is one, and returns the sender.
    /// Otherwise the task is woken when one arrives. Of several tasks that call a `poll_*` method
    /// that receives, only the last one is woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// use std::future::poll_fn;
    ///
    /// use gmp_io::io::ReadBuf;
    ///
    /// let mut room = [0; 1500];
    /// let mut buf = ReadBuf::new(&mut room);
    /// let sender = poll_fn(|cx| socket.poll_recv_from(cx, &mut buf)).await?;
    /// assert_eq!(buf.filled(), b"hello");
    /// assert_eq!(sender, socket.local_addr()?, "sent to itself");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_recv_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        let receive = |socket: &_| sender(uninit::recv_from(socket, buf, RecvFlags::empty())?);
        self.poll_receiving(cx, receive).map_ok(|(_, sender)| sender)
    }

    /// Receives a datagram without waiting, and returns its length and sender. `WouldBlock` means
    /// that there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut buf = [0; 1500];
    /// socket.readable().await?;
    /// let (n, sender) = socket.try_recv_from(&mut buf)?;
    /// assert_eq!((&buf[..n], sender), (&b"hello"[..], socket.local_addr()?));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receiving(|socket| socket.recv_from(buf))
    }

    /// Waits for a datagram, puts it into the spare room of `buf` (see
    /// [`recv_buf`](UdpSocket::recv_buf)), and returns its length and sender.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, no datagram is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut received = Vec::with_capacity(1500);
    /// let (n, sender) = socket.recv_buf_from(&mut received).await?;
    /// assert_eq!((n, sender), (5, socket.local_addr()?));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.receiving(|socket| sender(uninit::recv_buf_from(socket, buf)?)).await
    }

    /// Receives a datagram into the spare room of `buf`, without waiting, and returns its length
    /// and sender. `WouldBlock` means that there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut received = Vec::with_capacity(1500);
    /// socket.readable().await?;
    /// assert_eq!(socket.try_recv_buf_from(&mut received)?, (5, socket.local_addr()?));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.try_receiving(|socket| sender(uninit::recv_buf_from(socket, buf)?))
    }

    /// Waits for errors too, because receiving reports them.
    pub(super) async fn receiving<R>(&self, receive: impl FnMut(&net::UdpSocket) -> io::Result<R>) -> io::Result<R> {
        self.io.async_io(Interest::READABLE | Interest::ERROR, receive).await
    }

    pub(super) fn poll_receiving<R>(
        &self,
        cx: &mut Context<'_>,
        receive: impl FnMut(&net::UdpSocket) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.poll_io(cx, Direction::Read, receive)
    }

    pub(super) fn try_receiving<R>(&self, receive: impl FnOnce(&net::UdpSocket) -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::READABLE, receive)
    }
}
