//! A Unix socket before it listens or connects.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::path::Path;

use socket2::{Domain, Socket, Type};

use super::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use crate::sys;

/// A Unix socket that neither listens nor is connected yet.
///
/// [`UnixListener::bind`], [`UnixStream::connect`] and [`UnixDatagram::bind`] make a socket and use
/// it at once. This type is for what they leave out: a queue of another length, or a stream whose
/// own end has a path.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let directory = tempfile::tempdir()?;
/// # let (here, there) = (directory.path().join("here"), directory.path().join("there"));
/// use gmp_io::net::UnixSocket;
///
/// let socket = UnixSocket::new_stream()?;
/// socket.bind(&there)?;
/// let listener = socket.listen(16)?;
///
/// let socket = UnixSocket::new_stream()?;
/// socket.bind(&here)?;
/// let _stream = socket.connect(&there).await?;
/// let (_, peer) = listener.accept().await?;
/// assert_eq!(peer.as_pathname(), Some(here.as_path()));
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct UnixSocket {
    inner: Socket,
}

impl UnixSocket {
    /// Makes a socket for [`datagram`](UnixSocket::datagram).
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_datagram()?;
    /// assert!(socket.datagram()?.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new_datagram() -> io::Result<UnixSocket> {
        Ok(UnixSocket { inner: sys::datagram_socket(Domain::UNIX)? })
    }

    /// Makes a socket for [`listen`](UnixSocket::listen) and [`connect`](UnixSocket::connect).
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// socket.datagram().expect_err("it is for streams");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new_stream() -> io::Result<UnixSocket> {
        Ok(UnixSocket { inner: sys::stream_socket(Domain::UNIX)? })
    }

    /// Binds the socket to a path, where the system makes a socket file. On Linux a path that
    /// begins with a NUL byte is an abstract name.
    ///
    /// # Errors
    ///
    /// The path is too long or contains a NUL byte (`InvalidInput`); else the error of the system
    /// call: the path exists already (`AddrInUse`).
    ///
    /// # Examples
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// assert!(path.exists());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.inner.bind(&SocketAddr::from_path(path.as_ref())?.to_socket2()?)
    }

    /// Starts to listen. `backlog` is how many connections may wait to be accepted; the system has
    /// a maximum.
    ///
    /// # Errors
    ///
    /// The socket is for datagrams; else the error of the system call.
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
    /// use gmp_io::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// let listener = socket.listen(16)?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.check_is_not(Type::DGRAM, "listen cannot be called on a datagram socket")?;
        self.inner.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        UnixListener::new(self.inner.into())
    }

    /// Connects to the socket at a path.
    ///
    /// # Errors
    ///
    /// The socket is for datagrams; else as for [`UnixStream::connect`].
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::{UnixListener, UnixSocket};
    ///
    /// let _listener = UnixListener::bind(&path)?;
    /// let stream = UnixSocket::new_stream()?.connect(&path).await?;
    /// assert_eq!(stream.peer_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn connect(self, path: impl AsRef<Path>) -> io::Result<UnixStream> {
        self.check_is_not(Type::DGRAM, "connect cannot be called on a datagram socket")?;
        let address = SocketAddr::from_path(path.as_ref())?.to_socket2()?;
        UnixStream::connect_socket(self.inner, &address).await
    }

    /// Turns the socket into one that sends and receives datagrams.
    ///
    /// # Errors
    ///
    /// The socket is for streams; else the error of the system call.
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
    /// use gmp_io::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_datagram()?;
    /// socket.bind(&path)?;
    /// let datagram = socket.datagram()?;
    /// assert_eq!(datagram.local_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.check_is_not(Type::STREAM, "datagram cannot be called on a stream socket")?;
        let datagram = UnixDatagram::new(self.inner.into())?;
        datagram.take_error()?.map_or(Ok(datagram), Err)
    }

    /// Refuses a socket of the other kind, with tokio's message.
    fn check_is_not(&self, kind: Type, message: &'static str) -> io::Result<()> {
        if self.inner.r#type()? == kind { Err(io::Error::other(message)) } else { Ok(()) }
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl AsRawFd for UnixSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl IntoRawFd for UnixSocket {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}

#[allow(unsafe_code, reason = "the trait's only method is unsafe")]
impl FromRawFd for UnixSocket {
    /// Takes over a descriptor, which must be that of a non-blocking Unix socket.
    unsafe fn from_raw_fd(fd: RawFd) -> UnixSocket {
        // SAFETY: the caller promises what `Socket` requires: an open descriptor that nothing else
        // owns.
        let inner = unsafe { Socket::from_raw_fd(fd) };
        UnixSocket { inner }
    }
}
