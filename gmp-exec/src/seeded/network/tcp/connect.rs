//! `listen`, `connect` and `accept`.

use std::net::SocketAddr;

use super::Tcp;
use crate::seeded::network::flight::Packet;
use crate::seeded::network::hosts::is_broadcast;
use crate::seeded::network::ports::address_of_v4;
use crate::seeded::network::socket::Phase;
use crate::seeded::network::{Address, Answer, Id, Kernel};

impl Kernel<'_> {
    pub(in crate::seeded) fn listen(&mut self, id: Id, backlog: i32) -> Answer<()> {
        let now = self.now;
        let socket = self.socket(id);
        if socket.is_udp {
            return Err(libc::EOPNOTSUPP);
        }
        if socket.phase != Phase::Unconnected || !matches!(socket.tcp, Tcp::Closed | Tcp::Listening) {
            return Err(libc::EINVAL);
        }
        // Less than zero is much, as in the kernel.
        socket.backlog = backlog as u32 as usize;
        if socket.tcp == Tcp::Listening {
            return Ok(());
        }
        let local = match socket.local.filter(|_| socket.holds_port) {
            Some(local) if self.net.is_taken(id, local, now) => return Err(libc::EADDRINUSE),
            Some(local) => local,
            None => {
                let port = self.net.free_port().ok_or(libc::EADDRINUSE)?;
                let socket = self.socket(id);
                SocketAddr::new(socket.local.map_or(socket.unspecified(), |local| local.ip()), port)
            }
        };
        let socket = self.socket(id);
        (socket.local, socket.holds_port, socket.tcp) = (Some(local), true, Tcp::Listening);
        Ok(())
    }

    /// # Errors
    ///
    /// `EINPROGRESS`, if nothing is wrong. Later calls tell what has become of the connection.
    pub(in crate::seeded) fn connect(&mut self, id: Id, address: Address) -> Answer<()> {
        let socket = self.socket(id);
        if socket.is_udp {
            return self.udp_connect(id, address);
        }
        match (socket.phase, socket.tcp) {
            _ if address == Address::None => {
                self.disconnect(id);
                Ok(())
            }
            (Phase::Unconnected, Tcp::Closed) => self.begin_to_connect(id, address),
            (Phase::Unconnected | Phase::Connected, _) => Err(libc::EISCONN),
            (Phase::Disconnecting, _) => Err(libc::EINVAL),
            (Phase::Connecting, Tcp::SynSent) => Err(libc::EALREADY),
            (Phase::Connecting, Tcp::Closed) => {
                let error = socket.take_error(libc::ECONNABORTED);
                self.disconnect(id);
                Err(error)
            }
            (Phase::Connecting, _) => {
                socket.phase = Phase::Connected;
                Ok(())
            }
        }
    }

    fn begin_to_connect(&mut self, id: Id, address: Address) -> Answer<()> {
        let to = self.of_family(id, address)?;
        if is_broadcast(to.ip()) {
            return Err(libc::ENETUNREACH);
        }
        let (ip, to) = self.net.route(id, to);
        let socket = self.socket(id);
        let port = match socket.local.filter(|_| socket.holds_port) {
            Some(local) => local.port(),
            None => self.net.free_port().ok_or(libc::EADDRNOTAVAIL)?,
        };
        let names = (Some(SocketAddr::new(ip, port)), Some(to));
        if self.net.has_connection(id, names) {
            return Err(libc::EADDRNOTAVAIL);
        }
        let socket = self.socket(id);
        (socket.local, socket.remote) = names;
        (socket.error, socket.is_done) = (0, false);
        (socket.holds_port, socket.tcp, socket.phase) = (true, Tcp::SynSent, Phase::Connecting);
        self.send_packet(id, Packet::Syn { to: address_of_v4(to), tries: 0 });
        Err(libc::EINPROGRESS)
    }

    /// Whether [`accept`](Self::accept) has something to take, and whether the socket is one of IPv6.
    pub(in crate::seeded) fn may_accept(&mut self, id: Id) -> Answer<bool> {
        let socket = self.socket(id);
        match socket.tcp {
            _ if socket.is_udp => Err(libc::EOPNOTSUPP),
            Tcp::Listening if socket.queue.is_empty() => Err(libc::EAGAIN),
            Tcp::Listening => Ok(socket.is_v6),
            _ => Err(libc::EINVAL),
        }
    }

    /// The first connection gets that descriptor. Returns the address of its peer.
    pub(in crate::seeded) fn accept(&mut self, id: Id, fd: i32) -> Option<SocketAddr> {
        let connection = self.socket(id).queue.pop_front()?;
        self.name(fd, connection);
        self.socket(connection).remote
    }
}
