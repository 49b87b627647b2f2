//! Unix sockets for datagrams.

mod receive;
mod send;

use std::io;
use std::net::Shutdown;
use std::os::unix::net;
use std::path::Path;

use socket2::{Domain, Type};

use super::SocketAddr;
use crate::io::Ready;
use crate::net::descriptor::{descriptor_traits, std_conversions};
use crate::net::readiness::readiness_methods;
use crate::reactor::Evented;
use crate::sys;

/// A Unix socket that sends and receives datagrams. Unlike with UDP, datagrams arrive in order and
/// none is lost: when the receiver's queue is full, the sender waits.
///
/// A datagram that is longer than the buffer it is received into is truncated; the rest is lost.
///
/// Any number of tasks can send and receive at the same time, through a shared reference. Dropping
/// the socket leaves its file behind, and a path that exists can't be bound again: remove the file
/// before or after.
///
/// # Examples
///
/// Two connected sockets:
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::UnixDatagram;
///
/// let (left, right) = UnixDatagram::pair()?;
/// left.send(b"hello").await?;
/// let mut buf = [0; 16];
/// assert_eq!(right.recv(&mut buf).await?, 5);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
///
/// A server that answers every client:
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let directory = tempfile::tempdir()?;
/// # let (here, there) = (directory.path().join("here"), directory.path().join("there"));
/// use gmp_io::net::UnixDatagram;
///
/// let server = UnixDatagram::bind(&there)?;
/// gmp_exec::spawn(async move {
///     let mut buf = [0; 1024];
///     let (n, client) = server.recv_from(&mut buf).await?;
///     server.send_to(&buf[..n], client.as_pathname().expect("the client is bound")).await
/// });
///
/// let client = UnixDatagram::bind(&here)?;
/// client.send_to(b"hello", &there).await?;
/// let mut answer = [0; 16];
/// let n = client.recv(&mut answer).await?;
/// assert_eq!(&answer[..n], b"hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "uds")]
pub struct UnixDatagram {
    io: Evented<net::UnixDatagram>,
}

impl UnixDatagram {
    /// Makes a socket that is bound to a path, where the system makes a socket file.
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
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let socket = UnixDatagram::bind(&path)?;
    /// assert_eq!(socket.local_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let address = SocketAddr::from(net::SocketAddr::from_pathname(path)?);
        let socket = sys::datagram_socket(Domain::UNIX)?;
        socket.bind(&address.to_socket2()?)?;
        UnixDatagram::new(socket.into())
    }

    /// Makes two unnamed sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let (left, right) = UnixDatagram::pair()?;
    /// left.send(b"hello").await?;
    /// assert_eq!(right.recv(&mut [0; 16]).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "socketpair")]
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (left, right) = sys::unix_pair(Type::DGRAM)?;
        let (left, right) = (UnixDatagram::new(left.into())?, UnixDatagram::new(right.into())?);
        left.io.registration().assume_ready(Ready::WRITABLE);
        right.io.registration().assume_ready(Ready::WRITABLE);
        Ok((left, right))
    }

    /// Makes a socket without an address: it can send, but can't be answered.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
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
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let server = UnixDatagram::bind(&path)?;
    /// let socket = UnixDatagram::unbound()?;
    /// socket.send_to(b"hello", &path).await?;
    /// let (_, sender) = server.recv_from(&mut [0; 16]).await?;
    /// assert!(sender.is_unnamed());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::new(sys::datagram_socket(Domain::UNIX)?.into())
    }

    /// Connects to the socket at a path: [`send`](UnixDatagram::send) sends there, and only
    /// datagrams from there are received. Connecting again replaces the peer.
    ///
    /// # Errors
    ///
    /// The path is too long or contains a NUL byte (`InvalidInput`); else the error of the system
    /// call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let server = UnixDatagram::bind(&path)?;
    /// let socket = UnixDatagram::unbound()?;
    /// socket.connect(&path)?;
    /// socket.send(b"hello").await?;
    /// assert_eq!(server.recv(&mut [0; 16]).await?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.io().connect(path)
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixDatagram;
    ///
    /// assert!(UnixDatagram::unbound()?.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().local_addr().map(SocketAddr::from)
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// The error of the system call: `NotConnected` if there is no peer.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let error = UnixDatagram::unbound()?.peer_addr().unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::NotConnected);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().peer_addr().map(SocketAddr::from)
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
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixDatagram;
    ///
    /// assert!(UnixDatagram::unbound()?.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.io().take_error()
    }

    /// Closes one direction or both. A task that waits to receive then gets an empty datagram, and
    /// sending fails.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::net::Shutdown;
    ///
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let (left, right) = UnixDatagram::pair()?;
    /// left.shutdown(Shutdown::Both)?;
    /// left.send(b"too late").await.expect_err("closed");
    /// right.send(b"no reader").await.expect_err("closed");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.io().shutdown(how)
    }
}

std_conversions! {
    UnixDatagram, net::UnixDatagram, "socket", Evented::datagrams;
    from_std;
    into_std;
}

descriptor_traits! { UnixDatagram }
readiness_methods! { UnixDatagram, "socket", poll_recv_ready, poll_send_ready }
