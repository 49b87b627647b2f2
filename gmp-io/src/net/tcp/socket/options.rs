//! The socket options of a `TcpSocket`.

use std::io;
use std::time::Duration;

use super::TcpSocket;

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
