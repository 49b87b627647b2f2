//! A TCP socket before it listens or connects, and its options.

mod options;

use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::{fmt, io};

use socket2::{Domain, Socket};

use super::{TcpListener, TcpStream};
use crate::net::connect;
use crate::sys;

/// A TCP socket that neither listens nor is connected yet.
///
/// [`TcpStream::connect`] and [`TcpListener::bind`] make a socket with the usual options. This type
/// is for options that must be set before connecting or listening.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::TcpSocket;
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let listener = socket.listen(64)?;
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_nodelay(true)?;
/// let stream = socket.connect(listener.local_addr()?).await?;
/// # assert!(stream.nodelay()?);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias("ListenConfig", "Dialer", "setsockopt"))]
pub struct TcpSocket {
    inner: Socket,
}

impl TcpSocket {
    /// Makes a socket for IPv4.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert!(socket.local_addr()?.is_ipv4());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// Makes a socket for IPv6.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV6)
    }

    /// Makes a socket for the address's family.
    pub(super) fn for_address(address: SocketAddr) -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::for_address(address))
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        let inner = sys::stream_socket(domain)?;
        Ok(TcpSocket { inner })
    }

    /// Binds the socket to an address of this machine.
    ///
    /// # Errors
    ///
    /// The error of the system call: the address is in use (`AddrInUse`) or is not this machine's
    /// (`AddrNotAvailable`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert_ne!(socket.local_addr()?.port(), 0, "the system has chosen a port");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.inner.bind(&addr.into())
    }

    /// Connects to an address.
    ///
    /// # Errors
    ///
    /// The error of the system call.
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
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// let stream = socket.connect(address).await?;
    /// assert_eq!(stream.peer_addr()?, address);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn connect(self, addr: SocketAddr) -> io::Result<TcpStream> {
        connect::start(&self.inner, &addr.into())?;
        TcpStream::connecting(self.inner.into()).await
    }

    /// Starts to listen. `backlog` is how many connections may wait to be accepted; the system has
    /// a maximum.
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
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// let listener = socket.listen(1024)?;
    /// assert!(listener.local_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.inner.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::new(self.inner.into())
    }

    /// Takes over a socket of the standard library. Useful for a socket that another crate has
    /// configured.
    ///
    /// The socket must be non-blocking, and must not be connected, in spite of its type.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    /// use socket2::{Domain, Socket, Type};
    ///
    /// let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    /// socket.set_nonblocking(true)?;
    /// let socket = TcpSocket::from_std_stream(socket.into());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn from_std_stream(std_stream: net::TcpStream) -> TcpSocket {
        TcpSocket { inner: std_stream.into() }
    }

    /// The address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert!(socket.local_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.inner.local_addr()?;
        address
            .as_socket()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "invalid address family (not IPv4 or IPv6)"))
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
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(socket.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.inner.take_error()
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}

#[allow(unsafe_code, reason = "the trait's only method is unsafe")]
impl FromRawFd for TcpSocket {
    /// Takes over a descriptor, which must be that of a non-blocking TCP socket.
    unsafe fn from_raw_fd(fd: RawFd) -> TcpSocket {
        // SAFETY: the caller promises what `Socket` requires: an open descriptor that nothing else
        // owns.
        let inner = unsafe { Socket::from_raw_fd(fd) };
        TcpSocket { inner }
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
