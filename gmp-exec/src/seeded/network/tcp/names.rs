//! Addresses of sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::Tcp;
use crate::seeded::network::hosts::{address_of, is_broadcast};
use crate::seeded::network::{Address, Answer, Id, Kernel, Network};

/// Whether the address is one of those that are simulated.
pub(in crate::seeded) fn is_here(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    ip.is_loopback() || ip.is_unspecified() || is_broadcast(ip)
}

impl Kernel<'_> {
    pub(in crate::seeded) fn bind(&mut self, id: Id, address: Address) -> Answer<()> {
        let wanted = self.of_family(id, address)?;
        let (now, socket) = (self.now, self.socket(id));
        if !socket.is_udp && socket.tcp != Tcp::Closed || socket.holds_port {
            return Err(libc::EINVAL);
        }
        let host = socket.host;
        if !is_here(wanted.ip()) || self.net.host_at(host, wanted.ip()) != host {
            return Err(libc::EADDRNOTAVAIL);
        }
        let local = match wanted.port() {
            0 => SocketAddr::new(wanted.ip(), self.net.free_port().ok_or(libc::EADDRINUSE)?),
            _ => wanted,
        };
        if wanted.port() != 0 && self.net.is_taken(id, local, now) {
            // As in the kernel, the socket has no address any more.
            let socket = self.socket(id);
            let none = socket.unspecified();
            socket.local.iter_mut().chain(&mut socket.bound).for_each(|local| local.set_ip(none));
            return Err(libc::EADDRINUSE);
        }
        let socket = self.socket(id);
        socket.options.is_v6_only |= wanted.ip().to_canonical().is_ipv6() && !wanted.ip().is_unspecified();
        (socket.local, socket.bound) = (Some(local), Some(wanted));
        self.hold_port(id);
        Ok(())
    }

    /// The address, if the socket can have it or connect to it.
    pub(in crate::seeded::network) fn of_family(&mut self, id: Id, address: Address) -> Answer<SocketAddr> {
        let is_v6 = self.socket(id).is_v6;
        match address {
            Address::Internet(address) if address.is_ipv6() == is_v6 => Ok(address),
            // Too short for an address of IPv6.
            Address::Internet(address) if address.is_ipv4() => Err(libc::EINVAL),
            _ => Err(libc::EAFNOSUPPORT),
        }
    }

    /// `getsockname`.
    pub(in crate::seeded) fn local_name(&mut self, id: Id) -> SocketAddr {
        let socket = self.socket(id);
        socket.local.unwrap_or_else(|| SocketAddr::new(socket.unspecified(), 0))
    }

    /// `getpeername`.
    pub(in crate::seeded) fn peer_name(&mut self, id: Id) -> Answer<SocketAddr> {
        let socket = self.socket(id);
        let is_connected = socket.is_udp || !matches!(socket.tcp, Tcp::Closed | Tcp::SynSent);
        socket.remote.filter(|_| is_connected).ok_or(libc::ENOTCONN)
    }
}

impl Network {
    /// The address of the socket's host from which that address is reached, and that address: "all" means
    /// the socket's own one, if that is bound, or the loopback one.
    pub(in crate::seeded::network) fn route(&self, id: Id, to: SocketAddr) -> (IpAddr, SocketAddr) {
        let socket = &self.sockets[&id];
        let bound = socket.local_ip();
        let ip = match to.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => bound.unwrap_or(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let own = match self.host_at(socket.host, ip) {
            _ if is_broadcast(ip) => self.address_among_all(socket.host),
            host if host == socket.host => Ipv4Addr::LOCALHOST,
            _ => address_of(socket.host),
        };
        let from = match ip {
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => own.to_ipv6_mapped().into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            IpAddr::V4(_) => own.into(),
        };
        (bound.unwrap_or(from), SocketAddr::new(ip, to.port()))
    }
}
