//! A TCP socket before it listens or connects, and its options.

use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::time::Duration;
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

/// Options. The errors are those of the system calls.
impl TcpSocket {
    /// Whether the system checks from time to time that the peer is still there (`SO_KEEPALIVE`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(!socket.keepalive()?, "off by default");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn keepalive(&self) -> io::Result<bool> {
        self.inner.keepalive()
    }

    /// Sets whether the system checks from time to time that the peer is still there.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_keepalive(true)?;
    /// assert!(socket.keepalive()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_keepalive(&self, keepalive: bool) -> io::Result<()> {
        self.inner.set_keepalive(keepalive)
    }

    /// Whether an address can be bound that old connections still use (`SO_REUSEADDR`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(!socket.reuseaddr()?, "off by default");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.inner.reuse_address()
    }

    /// Sets whether an address can be bound that old connections still use.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_reuseaddr(true)?;
    /// assert!(socket.reuseaddr()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.inner.set_reuse_address(reuseaddr)
    }

    /// Whether several sockets can be bound to the same address (`SO_REUSEPORT`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(!socket.reuseport()?, "off by default");
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin")))]
    pub fn reuseport(&self) -> io::Result<bool> {
        self.inner.reuse_port()
    }

    /// Sets whether several sockets can be bound to the same address, if all of them ask for it. On
    /// Linux new connections are distributed among those that listen.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::TcpSocket;
    ///
    /// let first = TcpSocket::new_v4()?;
    /// first.set_reuseport(true)?;
    /// first.bind("127.0.0.1:0".parse().unwrap())?;
    /// let first = first.listen(16)?;
    ///
    /// let second = TcpSocket::new_v4()?;
    /// second.set_reuseport(true)?;
    /// second.bind(first.local_addr()?)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin")))]
    pub fn set_reuseport(&self, reuseport: bool) -> io::Result<()> {
        self.inner.set_reuse_port(reuseport)
    }

    /// The size of the send buffer in bytes (`SO_SNDBUF`). Linux returns twice the size that was
    /// set, because it counts its own bookkeeping.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(socket.send_buffer_size()? > 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.inner.send_buffer_size().map(saturated)
    }

    /// Sets the size of the send buffer in bytes. The system has limits.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_send_buffer_size(64 * 1024)?;
    /// assert!(socket.send_buffer_size()? >= 64 * 1024);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.inner.set_send_buffer_size(size as usize)
    }

    /// The size of the receive buffer in bytes (`SO_RCVBUF`). Linux returns twice the size that was
    /// set, because it counts its own bookkeeping.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(socket.recv_buffer_size()? > 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.inner.recv_buffer_size().map(saturated)
    }

    /// Sets the size of the receive buffer in bytes. The system has limits. To affect the window
    /// that is offered to the peer, set the size before connecting or listening.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_recv_buffer_size(64 * 1024)?;
    /// assert!(socket.recv_buffer_size()? >= 64 * 1024);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_recv_buffer_size(&self, size: u32) -> io::Result<()> {
        self.inner.set_recv_buffer_size(size as usize)
    }

    /// How long closing waits until everything is sent (`SO_LINGER`). `None`: closing does not
    /// wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert_eq!(socket.linger()?, None, "off by default");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.inner.linger()
    }

    /// Makes closing wait until everything is sent, at most for `dur` (whole seconds).
    #[deprecated = "closing the socket then blocks the thread that drops it; use `set_zero_linger` to reset the connection"]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        self.inner.set_linger(dur)
    }

    /// Makes closing reset the connection: data that is not sent yet is discarded, and the peer
    /// gets an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_zero_linger()?;
    /// assert_eq!(socket.linger()?, Some(Duration::ZERO));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.inner.set_linger(Some(Duration::ZERO))
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(!socket.nodelay()?, "off by default");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn nodelay(&self) -> io::Result<bool> {
        self.inner.tcp_nodelay()
    }

    /// Sets whether small writes are sent at once. Otherwise the system holds them back until the
    /// peer has acknowledged earlier ones (Nagle's algorithm).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_nodelay(true)?;
    /// assert!(socket.nodelay()?);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.inner.set_tcp_nodelay(nodelay)
    }

    /// The traffic class of IPv6 packets (`IPV6_TCLASS`).
    #[cfg(not(any(target_os = "solaris", target_os = "haiku", target_os = "redox")))]
    pub fn tclass_v6(&self) -> io::Result<u32> {
        self.inner.tclass_v6()
    }

    /// Sets the traffic class of IPv6 packets.
    #[cfg(not(any(target_os = "solaris", target_os = "haiku", target_os = "redox")))]
    pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
        self.inner.set_tclass_v6(tclass)
    }

    /// The type of service of IPv4 packets (`IP_TOS`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert_eq!(socket.tos_v4()?, 0, "the default");
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tos_v4(&self) -> io::Result<u32> {
        self.inner.tos_v4()
    }

    /// Sets the type of service of IPv4 packets.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_tos_v4(16)?; // IPTOS_LOWDELAY
    /// assert_eq!(socket.tos_v4()?, 16);
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
        self.inner.set_tos_v4(tos)
    }

    /// The old name of [`tos_v4`](TcpSocket::tos_v4).
    #[deprecated = "renamed to `tos_v4`: it is about IPv4"]
    #[doc(hidden)]
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tos(&self) -> io::Result<u32> {
        self.tos_v4()
    }

    /// The old name of [`set_tos_v4`](TcpSocket::set_tos_v4).
    #[deprecated = "renamed to `set_tos_v4`: it is about IPv4"]
    #[doc(hidden)]
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn set_tos(&self, tos: u32) -> io::Result<()> {
        self.set_tos_v4(tos)
    }

    /// The network interface that the socket is bound to (`SO_BINDTODEVICE`), if any.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert_eq!(socket.device()?, None, "all interfaces");
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        self.inner.device()
    }

    /// Binds the socket to a network interface such as `b"eth0"`. `None` removes the binding.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// // "lo" is the loopback interface. Older kernels require a privilege.
    /// if socket.bind_device(Some(b"lo")).is_ok() {
    ///     assert_eq!(socket.device()?.as_deref(), Some(&b"lo"[..]));
    /// }
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        self.inner.bind_device(interface)
    }
}

fn saturated(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
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
