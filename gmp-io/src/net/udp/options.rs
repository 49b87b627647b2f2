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
    pub fn broadcast(&self) -> io::Result<bool> {
        self.io.io().broadcast()
    }

    /// Sets whether sending to a broadcast address is allowed.
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.io.io().set_broadcast(on)
    }

    /// Whether this machine receives the IPv4 multicast packets that it sends
    /// (`IP_MULTICAST_LOOP`).
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.io.io().multicast_loop_v4()
    }

    /// Sets whether this machine receives the IPv4 multicast packets that it sends. Has no effect
    /// on IPv6 sockets.
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.io.io().set_multicast_loop_v4(on)
    }

    /// The number of routers that an IPv4 multicast packet may pass (`IP_MULTICAST_TTL`).
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.io.io().multicast_ttl_v4()
    }

    /// Sets the number of routers that an IPv4 multicast packet may pass. The default is 1, which
    /// keeps it in the local network. Has no effect on IPv6 sockets.
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.io.io().set_multicast_ttl_v4(ttl)
    }

    /// Whether this machine receives the IPv6 multicast packets that it sends
    /// (`IPV6_MULTICAST_LOOP`).
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.io.io().multicast_loop_v6()
    }

    /// Sets whether this machine receives the IPv6 multicast packets that it sends. Fails on IPv4
    /// sockets.
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.io.io().set_multicast_loop_v6(on)
    }

    /// Joins a multicast group (`IP_ADD_MEMBERSHIP`) on the local interface that has the address
    /// `interface`; [`Ipv4Addr::UNSPECIFIED`] lets the system choose one.
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.io().join_multicast_v4(&multiaddr, &interface)
    }

    /// Joins a multicast group (`IPV6_ADD_MEMBERSHIP`) on the interface with the number
    /// `interface`; 0 lets the system choose one.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.io().join_multicast_v6(multiaddr, interface)
    }

    /// Leaves a group that was joined with [`join_multicast_v4`](UdpSocket::join_multicast_v4).
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
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.io().ttl()
    }

    /// Sets the number of routers that a packet may pass.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.io().set_ttl(ttl)
    }

    /// The traffic class of IPv6 packets (`IPV6_TCLASS`).
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tclass_v6(&self) -> io::Result<u32> {
        SockRef::from(self).tclass_v6()
    }

    /// Sets the traffic class of IPv6 packets.
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
        SockRef::from(self).set_tclass_v6(tclass)
    }

    /// The type of service of IPv4 packets (`IP_TOS`).
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku", target_os = "redox")))]
    pub fn tos_v4(&self) -> io::Result<u32> {
        SockRef::from(self).tos_v4()
    }

    /// Sets the type of service of IPv4 packets.
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
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        SockRef::from(self).device()
    }

    /// Binds the socket to a network interface such as `b"eth0"`. `None` removes the binding.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        SockRef::from(self).bind_device(interface)
    }
}
