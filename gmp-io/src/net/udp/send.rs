//! Sending datagrams.

use std::io;
use std::net::{self, SocketAddr};
use std::task::{Context, Poll};

use super::UdpSocket;
use crate::io::Interest;
use crate::net::ToSocketAddrs;
use crate::net::addr::resolve;
use crate::reactor::Direction;

/// Sending.
///
/// A datagram is sent whole or not at all, so the number of bytes returned is the buffer's length.
/// A datagram that was sent need not arrive.
///
/// Errors are those of the system call. On a connected socket an error may be about an earlier
/// datagram: `ConnectionRefused` if the peer's system has answered that no process listens there.
/// `InvalidInput` or the system's own code means that the datagram is too long.
impl UdpSocket {
    /// Sends a datagram to the address that the socket is connected to, waiting until there is
    /// room.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, nothing has been sent.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let receiver = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(receiver.local_addr()?).await?;
    /// assert_eq!(socket.send(b"hello").await?, 5);
    /// assert_eq!(receiver.recv(&mut [0; 16]).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.sending(|socket| socket.send(buf)).await
    }

    /// Sends a datagram to the address that the socket is connected to, if there is room. Otherwise
    /// the task is woken when there is. Of several tasks that call a `poll_*` method that sends,
    /// only the last one is woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let receiver = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(receiver.local_addr()?).await?;
    /// use std::future::poll_fn;
    ///
    /// assert_eq!(poll_fn(|cx| socket.poll_send(cx, b"hello")).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_sending(cx, |socket| socket.send(buf))
    }

    /// Sends a datagram to the address that the socket is connected to, without waiting.
    /// `WouldBlock` means that there is no room.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let receiver = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(receiver.local_addr()?).await?;
    /// use std::io::ErrorKind::WouldBlock;
    ///
    /// loop {
    ///     socket.writable().await?;
    ///     match socket.try_send(b"hello") {
    ///         Err(error) if error.kind() == WouldBlock => continue,
    ///         result => break assert_eq!(result?, 5),
    ///     }
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_sending(|socket| socket.send(buf))
    }

    /// Sends a datagram to `target`, waiting until there is room. If `target` stands for several
    /// addresses, the first one is used.
    ///
    /// # Errors
    ///
    /// The name can't be resolved, or stands for no address (`InvalidInput`); else the error of the
    /// system call.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is done, nothing has been sent.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let receiver = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// let target = receiver.local_addr()?;
    /// assert_eq!(socket.send_to(b"hello", target).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], target: A) -> io::Result<usize> {
        let target = resolve(target).await?.next();
        let target =
            target.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no addresses to send data to"))?;
        self.sending(|socket| socket.send_to(buf, target)).await
    }

    /// Sends a datagram to `target` if there is room. Otherwise the task is woken when there is. Of
    /// several tasks that call a `poll_*` method that sends, only the last one is woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let receiver = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// use std::future::poll_fn;
    ///
    /// let target = receiver.local_addr()?;
    /// assert_eq!(poll_fn(|cx| socket.poll_send_to(cx, b"hello", target)).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_send_to(&self, cx: &mut Context<'_>, buf: &[u8], target: SocketAddr) -> Poll<io::Result<usize>> {
        self.poll_sending(cx, |socket| socket.send_to(buf, target))
    }

    /// Sends a datagram to `target`, without waiting. `WouldBlock` means that there is no room.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let receiver = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.writable().await?;
    /// assert_eq!(socket.try_send_to(b"hello", receiver.local_addr()?)?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.try_sending(|socket| socket.send_to(buf, target))
    }

    async fn sending<R>(&self, send: impl Fn(&net::UdpSocket) -> io::Result<R>) -> io::Result<R> {
        self.io.async_io(Interest::WRITABLE, send).await
    }

    fn poll_sending<R>(
        &self,
        cx: &mut Context<'_>,
        send: impl Fn(&net::UdpSocket) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.poll_io(cx, Direction::Write, send)
    }

    fn try_sending<R>(&self, send: impl FnOnce(&net::UdpSocket) -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::WRITABLE, send)
    }
}
