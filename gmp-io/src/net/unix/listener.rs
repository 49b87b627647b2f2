//! A Unix socket that listens for connections.

use std::io;
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll, ready};

use socket2::Domain;

use super::{SocketAddr, UnixStream};
use crate::io::Interest;
use crate::net::descriptor::{descriptor_traits, std_conversions};
use crate::reactor::{Direction, Evented};
use crate::sys;

/// A Unix socket that listens for connections.
///
/// Dropping it leaves its file behind, and a path that exists can't be bound again: remove the file
/// before or after.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("socket");
/// use gmp_io::net::{UnixListener, UnixStream};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let listener = UnixListener::bind(&path)?;
/// gmp_exec::spawn(async move {
///     while let Ok((mut stream, _peer)) = listener.accept().await {
///         gmp_exec::spawn(async move { stream.write_all(b"hello").await });
///     }
/// });
///
/// let mut greeting = String::new();
/// UnixStream::connect(&path).await?.read_to_string(&mut greeting).await?;
/// assert_eq!(greeting, "hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "uds")]
pub struct UnixListener {
    io: Evented<net::UnixListener>,
}

impl UnixListener {
    /// Listens at a path, where the system makes a socket file. On Linux a path that begins with a
    /// NUL byte is an abstract name.
    ///
    /// # Errors
    ///
    /// The path is too long or contains a NUL byte (`InvalidInput`); else the error of the system
    /// call: the path exists already (`AddrInUse`).
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixListener;
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// assert!(path.exists());
    /// UnixListener::bind(&path).expect_err("the path exists");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::bind_addr(&SocketAddr::from_path(path.as_ref())?)
    }

    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixListener;
    ///
    /// let address = std::os::unix::net::SocketAddr::from_pathname(&path)?;
    /// let listener = UnixListener::bind_addr(&address.into())?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        let socket = sys::stream_socket(Domain::UNIX)?;
        socket.bind(&socket_addr.to_socket2()?)?;
        // As the standard library: the system's limit.
        socket.listen(-1)?;
        UnixListener::new(socket.into())
    }

    /// Waits for a connection, and returns it with its peer's address, which is usually unnamed.
    ///
    /// Any number of tasks may wait at the same time.
    ///
    /// # Errors
    ///
    /// The error of the system call, such as no descriptors left. The listener stays usable and the
    /// connection stays in the queue: the next call fails the same way until some descriptors are
    /// closed, so wait a little before it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done loses no connection.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::{UnixListener, UnixStream};
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path).await?;
    /// let (_stream, peer) = listener.accept().await?;
    /// assert!(peer.is_unnamed());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        accepted(self.io.async_io(Interest::READABLE, sys::accept_unix).await?)
    }

    /// Accepts a connection if there is one. Otherwise the task is woken when one arrives.
    ///
    /// Of several tasks that call this, only the last one is woken.
    ///
    /// # Errors
    ///
    /// As for [`accept`](UnixListener::accept).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use std::future::poll_fn;
    ///
    /// use gmp_io::net::{UnixListener, UnixStream};
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path).await?;
    /// let (_stream, peer) = poll_fn(|cx| listener.poll_accept(cx)).await?;
    /// assert!(peer.is_unnamed());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let connection = ready!(self.io.poll_io(cx, Direction::Read, sys::accept_unix))?;
        Poll::Ready(accepted(connection))
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
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixListener;
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().local_addr().map(SocketAddr::from)
    }

    /// Takes the error that the system has stored for the socket (`SO_ERROR`), and clears it.
    ///
    /// # Errors
    ///
    /// The error of the system call that asks.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixListener;
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// assert!(listener.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.io().take_error()
    }
}

fn accepted((stream, peer): (net::UnixStream, net::SocketAddr)) -> io::Result<(UnixStream, SocketAddr)> {
    Ok((UnixStream::accepted(stream)?, peer.into()))
}

std_conversions! {
    UnixListener, net::UnixListener, "listener", Evented::new;
    from_std;
    into_std;
}

descriptor_traits! { UnixListener }
