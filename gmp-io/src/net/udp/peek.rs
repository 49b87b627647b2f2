use std::io;
use std::net::{self, SocketAddr};
use std::task::{Context, Poll};

use rustix::net::RecvFlags;
use socket2::SockRef;

use super::{UdpSocket, sender};
use crate::io::{ReadBuf, uninit};

/// Looking at the next datagram and leaving it there: the next call that receives gets the same one.
///
/// Errors are the system's, as for receiving.
impl UdpSocket {
    /// Waits for a datagram, copies its beginning into `buf`, and returns how much that is.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the datagram stays.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.receiving(|socket| socket.peek(buf)).await
    }

    /// Copies a datagram's beginning into the unfilled part of `buf` if there is one, else makes sure that the task is
    /// woken when one has come. Of several tasks that call a `poll_*` method that receives, only the last one is woken.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receiving(cx, |socket| uninit::recv(socket, buf, RecvFlags::PEEK)).map_ok(drop)
    }

    /// Copies a datagram's beginning without waiting: `WouldBlock` means that there is none.
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_receiving(|socket| socket.peek(buf))
    }

    /// Waits for a datagram, copies its beginning into `buf`, and returns how much that is and who sent it.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the datagram stays.
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receiving(|socket| socket.peek_from(buf)).await
    }

    /// Copies a datagram's beginning into the unfilled part of `buf` if there is one and returns who sent it, else makes
    /// sure that the task is woken when one has come. Of several tasks that call a `poll_*` method that receives, only the
    /// last one is woken.
    pub fn poll_peek_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        let peek = |socket: &_| sender(uninit::recv_from(socket, buf, RecvFlags::PEEK)?);
        self.poll_receiving(cx, peek).map_ok(|(_, sender)| sender)
    }

    /// Copies a datagram's beginning without waiting, and returns how much that is and who sent it: `WouldBlock` means that
    /// there is none.
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receiving(|socket| socket.peek_from(buf))
    }

    /// Waits for a datagram and returns who sent it. The datagram stays there.
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

    /// Returns who sent the next datagram if there is one, else makes sure that the task is woken when one has come. Of
    /// several tasks that call a `poll_*` method that receives, only the last one is woken.
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_receiving(cx, next_sender)
    }

    /// Returns who sent the next datagram, without waiting: `WouldBlock` means that there is none.
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.try_receiving(next_sender)
    }
}

fn next_sender(socket: &net::UdpSocket) -> io::Result<SocketAddr> {
    let address = SockRef::from(socket).peek_sender()?;
    address.as_socket().ok_or_else(|| io::Error::other("sender not available"))
}
