//! Receiving datagrams without consuming them.

use std::io;
use std::net::{self, SocketAddr};
use std::task::{Context, Poll};

use rustix::net::RecvFlags;
use socket2::SockRef;

use super::{UdpSocket, sender};
use crate::io::{ReadBuf, uninit};

/// Receiving without consuming: the next call that receives gets the same datagram.
///
/// Errors are those of the system call, as for receiving.
impl UdpSocket {
    /// Waits for a datagram, copies its beginning into `buf`, and returns the number of bytes.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the datagram stays.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut first = [0; 1];
    /// assert_eq!(socket.peek(&mut first).await?, 1);
    ///
    /// let mut all = [0; 16];
    /// assert_eq!(socket.recv(&mut all).await?, 5, "the datagram was still there");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receiving(|socket| socket.peek(buf)).await
    }

    /// Copies the beginning of a datagram into the unfilled part of `buf` if there is one.
    /// Otherwise the task is woken when one arrives. Of several tasks that call a `poll_*` method
    /// that receives, only the last one is woken.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receiving(cx, |socket| uninit::recv(socket, buf, RecvFlags::PEEK)).map_ok(drop)
    }

    /// Copies the beginning of a datagram without waiting. `WouldBlock` means that there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// socket.readable().await?;
    /// assert_eq!(socket.try_peek(&mut [0; 16])?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_receiving(|socket| socket.peek(buf))
    }

    /// Waits for a datagram, copies its beginning into `buf`, and returns the number of bytes and
    /// the sender.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the datagram stays.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// let mut first = [0; 1];
    /// assert_eq!(socket.peek_from(&mut first).await?, (1, socket.local_addr()?));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receiving(|socket| socket.peek_from(buf)).await
    }

    /// Copies the beginning of a datagram into the unfilled part of `buf` if there is one, and
    /// returns the sender. Otherwise the task is woken when one arrives. Of several tasks that call
    /// a `poll_*` method that receives, only the last one is woken.
    pub fn poll_peek_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        let peek = |socket: &_| sender(uninit::recv_from(socket, buf, RecvFlags::PEEK)?);
        self.poll_receiving(cx, peek).map_ok(|(_, sender)| sender)
    }

    /// Copies the beginning of a datagram without waiting, and returns the number of bytes and the
    /// sender. `WouldBlock` means that there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// socket.readable().await?;
    /// assert_eq!(socket.try_peek_from(&mut [0; 16])?, (5, socket.local_addr()?));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receiving(|socket| socket.peek_from(buf))
    }

    /// Waits for a datagram and returns its sender. The datagram stays.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the datagram stays.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use gmp_io::net::UdpSocket;
    /// # let sender = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// # sender.send_to(b"hello", socket.local_addr()?).await?;
    /// let from = socket.peek_sender().await?;
    /// assert_eq!(from, sender.local_addr()?);
    ///
    /// let mut buf = [0; 16];
    /// assert_eq!(socket.recv_from(&mut buf).await?, (5, from));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.receiving(next_sender).await
    }

    /// Returns the sender of the next datagram if there is one. Otherwise the task is woken when
    /// one arrives. Of several tasks that call a `poll_*` method that receives, only the last one
    /// is woken.
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_receiving(cx, next_sender)
    }

    /// Returns the sender of the next datagram, without waiting. `WouldBlock` means that there is
    /// none.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let socket = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # socket.connect(socket.local_addr()?).await?;
    /// # socket.send(b"hello").await?;
    /// socket.readable().await?;
    /// assert_eq!(socket.try_peek_sender()?, socket.local_addr()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.try_receiving(next_sender)
    }
}

fn next_sender(socket: &net::UdpSocket) -> io::Result<SocketAddr> {
    let address = SockRef::from(socket).peek_sender()?;
    address.as_socket().ok_or_else(|| io::Error::other("sender not available"))
}
