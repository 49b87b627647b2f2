//! The socket options of a UDP socket.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use socket2::SockRef;

use super::UdpSocket;

/// Broadcast and multicast. The errors are those of the system calls.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use std::net::Ipv4Addr;
///
/// use gmp_io::net::UdpSocket;
///
/// let group = Ipv4Addr::new(224, 0, 0, 251);
/// let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
/// socket.join_multicast_v4(group, Ipv4Addr::LOCALHOST)?;
/// // Receive what is sent to the group, and then:
/// socket.leave_multicast_v4(group, Ipv4Addr::LOCALHOST)?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
impl UdpSocket {
    /// Whether sending to a broadcast address is allowed (`SO_BROADCAST`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert!(!socket.broadcast()?, "off by default");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn broadcast(&self) -> io::Result<bool> {
        self.io.io().broadcast()
    }

    /// Sets whether sending to a broadcast address is allowed.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.set_broadcast(true)?;
    /// assert!(socket.broadcast()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.io.io().set_broadcast(on)
    }

    /// Whether this machine receives the IPv4 multicast packets that it sends
    /// (`IP_MULTICAST_LOOP`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert!(socket.multicast_loop_v4()?, "on by default");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.io.io().multicast_loop_v4()
    }

    /// Sets whether this machine receives the IPv4 multicast packets that it sends. Has no effect
    /// on IPv6 sockets.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.set_multicast_loop_v4(false)?;
    /// assert!(!socket.multicast_loop_v4()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.io.io().set_multicast_loop_v4(on)
    }

    /// The number of routers that an IPv4 multicast packet may pass (`IP_MULTICAST_TTL`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_eq!(socket.multicast_ttl_v4()?, 1, "the default");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.io.io().multicast_ttl_v4()
    }

    /// Sets the number of routers that an IPv4 multicast packet may pass. The default is 1, which
    /// keeps it in the local network. Has no effect on IPv6 sockets.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.set_multicast_ttl_v4(8)?;
    /// assert_eq!(socket.multicast_ttl_v4()?, 8);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.io.io().set_multicast_ttl_v4(ttl)
    }

    /// Whether this machine receives the IPv6 multicast packets that it sends
    /// (`IPV6_MULTICAST_LOOP`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// // On a machine with IPv6:
    /// if let Ok(socket) = UdpSocket::bind("[::1]:0").await {
    ///     assert!(socket.multicast_loop_v6()?, "on by default");
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.io.io().multicast_loop_v6()
    }

    /// Sets whether this machine receives the IPv6 multicast packets that it sends. Fails on IPv4
    /// sockets.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// // On a machine with IPv6:
    /// if let Ok(socket) = UdpSocket::bind("[::1]:0").await {
    ///     socket.set_multicast_loop_v6(false)?;
    ///     assert!(!socket.multicast_loop_v6()?);
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.io.io().set_multicast_loop_v6(on)
    }

    /// Joins a multicast group (`IP_ADD_MEMBERSHIP`) on the local interface that has the address
    /// `interface`; [`Ipv4Addr::UNSPECIFIED`] lets the system choose one.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::net::Ipv4Addr;
    ///
    /// use gmp_io::net::UdpSocket;
    ///
    /// let group = Ipv4Addr::new(224, 0, 0, 251);
    /// let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    /// socket.join_multicast_v4(group, Ipv4Addr::LOCALHOST)?;
    /// socket.join_multicast_v4(group, Ipv4Addr::LOCALHOST).expect_err("joined already");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.io().join_multicast_v4(&multiaddr, &interface)
    }

    /// Joins a multicast group (`IPV6_ADD_MEMBERSHIP`) on the interface with the number
    /// `interface`; 0 lets the system choose one.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.io().join_multicast_v6(multiaddr, interface)
    }

    /// Leaves a group that was joined with [`join_multicast_v4`](UdpSocket::join_multicast_v4).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::net::Ipv4Addr;
    ///
    /// use gmp_io::net::UdpSocket;
    ///
    /// let group = Ipv4Addr::new(224, 0, 0, 251);
    /// let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    /// socket.join_multicast_v4(group, Ipv4Addr::LOCALHOST)?;
    /// socket.leave_multicast_v4(group, Ipv4Addr::LOCALHOST)?;
    /// socket.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).expect_err("left already");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.io().leave_multicast_v4(&multiaddr, &interface)
    }

    /// Leaves a group that was joined with [`join_multicast_v6`](UdpSocket::join_multicast_v6).
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.io().leave_multicast_v6(multiaddr, interface)
    }
}

/// Other options. The errors are those of the system calls.
impl UdpSocket {
    /// The number of routers that a packet may pass (`IP_TTL`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert!(socket.ttl()? > 0);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.io().ttl()
    }

    /// Sets the number of routers that a packet may pass.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.set_ttl(123)?;
    /// assert_eq!(socket.ttl()?, 123);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.io().set_ttl(ttl)
    }

    /// The traffic class of IPv6 packets (`IPV6_TCLASS`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// // On a machine with IPv6:
    /// if let Ok(socket) = UdpSocket::bind("[::1]:0").await {
    ///     assert_eq!(socket.tclass_v6()?, 0, "the default");
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tclass_v6(&self) -> io::Result<u32> {
        SockRef::from(self).tclass_v6()
    }

    /// Sets the traffic class of IPv6 packets.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// // On a machine with IPv6:
    /// if let Ok(socket) = UdpSocket::bind("[::1]:0").await {
    ///     socket.set_tclass_v6(32)?;
    ///     assert_eq!(socket.tclass_v6()?, 32);
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
        SockRef::from(self).set_tclass_v6(tclass)
    }

    /// The type of service of IPv4 packets (`IP_TOS`).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_eq!(socket.tos_v4()?, 0, "the default");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tos_v4(&self) -> io::Result<u32> {
        SockRef::from(self).tos_v4()
    }

    /// Sets the type of service of IPv4 packets.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.set_tos_v4(16)?; // IPTOS_LOWDELAY
    /// assert_eq!(socket.tos_v4()?, 16);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
        SockRef::from(self).set_tos_v4(tos)
    }

    /// The old name of [`tos_v4`](UdpSocket::tos_v4).
    #[deprecated = "renamed to `tos_v4`: it is about IPv4"]
    #[doc(hidden)]
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tos(&self) -> io::Result<u32> {
        self.tos_v4()
    }

    /// The old name of [`set_tos_v4`](UdpSocket::set_tos_v4).
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
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_eq!(socket.device()?, None, "all interfaces");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        SockRef::from(self).device()
    }

    /// Binds the socket to a network interface such as `b"eth0"`. `None` removes the binding.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// // "lo" is the loopback interface. Older kernels require a privilege.
    /// if socket.bind_device(Some(b"lo")).is_ok() {
    ///     assert_eq!(socket.device()?.as_deref(), Some(&b"lo"[..]));
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        SockRef::from(self).bind_device(interface)
    }
}
