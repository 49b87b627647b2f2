//! A socket that listens for TCP connections.

use std::io;
use std::net::{self, SocketAddr};
use std::task::{Context, Poll, ready};

use super::{TcpSocket, TcpStream};
use crate::io::Interest;
use crate::net::ToSocketAddrs;
use crate::net::addr::first_that_works;
use crate::net::descriptor::{descriptor_traits, std_conversions};
use crate::reactor::{Direction, Evented};
use crate::sys;

/// A socket that listens for connections.
///
/// Connections that were not accepted yet wait in a queue of the system.
/// [`bind`](TcpListener::bind) asks for the longest queue that the system allows (on Linux
/// `net.core.somaxconn`). For another length use [`TcpSocket::listen`].
///
/// # Examples
///
/// An echo server:
///
/// ```
/// # use gmp_exec::runtime::Runtime;
/// # Runtime::new()?.block_on(async {
/// use gmp_io::net::{TcpListener, TcpStream};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
///
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
///
/// gmp_exec::spawn(async move {
///     while let Ok((mut stream, _peer)) = listener.accept().await {
///         gmp_exec::spawn(async move {
///             let (mut reader, mut writer) = stream.split();
///             copy(&mut reader, &mut writer).await
///         });
///     }
/// });
///
/// let mut client = TcpStream::connect(address).await?;
/// client.write_all(b"hello").await?;
/// let mut answer = [0; 5];
/// client.read_exact(&mut answer).await?;
/// assert_eq!(&answer, b"hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct TcpListener {
    io: Evented<net::TcpListener>,
}

impl TcpListener {
    /// Listens on an address. Port 0 lets the system choose one: see
    /// [`local_addr`](TcpListener::local_addr).
    ///
    /// If `addr` stands for several addresses, the first one that can be bound is used.
    /// `SO_REUSEADDR` is set, so that a server can restart while connections of the previous one
    /// are still closing.
    ///
    /// # Errors
    ///
    /// The name can't be resolved, or no address can be bound: the error is the last address's.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// assert!(listener.local_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "Listen")]
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        first_that_works(addr, |address| async move {
            let socket = TcpSocket::for_address(address)?;
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.listen(sys::max_backlog())
        })
        .await
    }

    /// Waits for a connection, and returns it with its peer's address.
    ///
    /// Any number of tasks may wait at the same time.
    ///
    /// # Errors
    ///
    /// The error of the system call: the peer closed the connection before it was accepted
    /// (`ConnectionAborted`), or there are no descriptors left. The listener stays usable. If there
    /// are no descriptors, the connection stays in the queue and the next call fails the same way
    /// until some are closed, so wait a little before it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done loses no connection.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// let client = gmp_io::net::TcpStream::connect(address).await?;
    /// let (_stream, peer) = listener.accept().await?;
    /// assert_eq!(peer, client.local_addr()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.io.async_io(Interest::READABLE, sys::accept).await?;
        Ok((TcpStream::accepted(stream)?, peer))
    }

    /// Accepts a connection if there is one. Otherwise the task is woken when one arrives.
    ///
    /// Of several tasks that call this, only the last one is woken.
    ///
    /// # Errors
    ///
    /// As for [`accept`](TcpListener::accept).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// use std::future::poll_fn;
    ///
    /// let client = gmp_io::net::TcpStream::connect(address).await?;
    /// let (_stream, peer) = poll_fn(|cx| listener.poll_accept(cx)).await?;
    /// assert_eq!(peer, client.local_addr()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let (stream, peer) = ready!(self.io.poll_io(cx, Direction::Read, sys::accept))?;
        Poll::Ready(TcpStream::accepted(stream).map(|stream| (stream, peer)))
    }

    /// The address that the listener is bound to.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// assert_ne!(listener.local_addr()?.port(), 0, "the system has chosen a port");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().local_addr()
    }

    /// The number of routers that a packet may pass (`IP_TTL`).
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// assert!(listener.ttl()? > 0);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.io().ttl()
    }

    /// Sets the number of routers that a packet may pass, also for connections accepted from now
    /// on.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// listener.set_ttl(100)?;
    /// assert_eq!(listener.ttl()?, 100);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.io().set_ttl(ttl)
    }
}

std_conversions! {
    TcpListener, net::TcpListener, "listener", Evented::new;

    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::TcpListener;
    ///
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// listener.set_nonblocking(true)?;
    /// let listener = TcpListener::from_std(listener)?;
    /// # std::io::Result::Ok(())
    /// ```
    from_std;

    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?.into_std()?;
    /// listener.set_nonblocking(false)?;
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    into_std;
}

descriptor_traits! { TcpListener }
