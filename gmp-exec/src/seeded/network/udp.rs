//! UDP (README.md, "UDP").

use std::cmp::Reverse;
use std::net::{Ipv4Addr, SocketAddr};

use super::address::Address;
use super::flight::Packet;
use super::hosts::{Number, is_broadcast};
use super::ports::{address_of_v4, is_all};
use super::socket::{READ, Socket, Tcp, WRITE};
use super::{Answer, Id, Kernel};

/// What a datagram costs of the receiver's buffer, beside its bytes.
const OVERHEAD: usize = 512;

/// A datagram that waits for its receiver, with addresses as that sees them.
#[derive(Clone, Debug)]
pub(in crate::seeded) struct Datagram {
    pub(in crate::seeded) from: SocketAddr,
    pub(in crate::seeded) to: SocketAddr,
    /// The receiver's own address, if `to` stands for all hosts.
    pub(in crate::seeded) at: Option<Ipv4Addr>,
    pub(in crate::seeded) bytes: Vec<u8>,
}

impl Kernel<'_> {
    /// `connect`: the peer is noted, and nothing is sent.
    pub(super) fn udp_connect(&mut self, id: Id, address: Address) -> Answer<()> {
        if address == Address::None {
            let socket = self.socket(id);
            socket.forget_local();
            (socket.tcp, socket.remote) = (Tcp::Closed, None);
            return Ok(());
        }
        self.udp_autobind(id)?;
        let to = self.of_family(id, address)?;
        self.udp_may_send(id, to)?;
        let (from, to) = self.net.route(id, to);
        let socket = self.socket(id);
        socket.local.iter_mut().filter(|local| local.ip().is_unspecified()).for_each(|local| local.set_ip(from));
        (socket.tcp, socket.remote) = (Tcp::Established, Some(to));
        Ok(())
    }

    fn udp_autobind(&mut self, id: Id) -> Answer<()> {
        if self.socket(id).holds_port {
            return Ok(());
        }
        let port = self.net.free_port().ok_or(libc::EAGAIN)?;
        let socket = self.socket(id);
        let ip = socket.local.map_or(socket.unspecified(), |local| local.ip());
        socket.local = Some(SocketAddr::new(ip, port));
        self.hold_port(id);
        Ok(())
    }

    pub(super) fn hold_port(&mut self, id: Id) {
        let bound_as = self.net.new_id();
        let socket = self.socket(id);
        (socket.holds_port, socket.bound_as) = (true, bound_as);
    }

    fn udp_may_send(&mut self, id: Id, to: SocketAddr) -> Answer<()> {
        let may_send = !is_broadcast(to.ip()) || self.socket(id).options.may_broadcast;
        may_send.then_some(()).ok_or(libc::EACCES)
    }

    /// One datagram, to that address or to the peer.
    pub(in crate::seeded) fn udp_send(&mut self, id: Id, bytes: &[u8], to: Option<Address>) -> Answer<usize> {
        self.udp_autobind(id)?;
        let is_named = to.is_some();
        let to = match to {
            Some(address) => self.of_family(id, address)?,
            None => self.socket(id).remote.ok_or(libc::EDESTADDRREQ)?,
        };
        if to.port() == 0 {
            return Err(libc::EINVAL);
        }
        if is_named {
            self.udp_may_send(id, to)?;
        }
        let socket = self.socket(id);
        let most = if socket.is_v6 { 65_527 } else { 65_507 };
        if bytes.len() > most {
            return Err(libc::EMSGSIZE);
        }
        if socket.error != 0 || socket.shut & WRITE != 0 {
            return Err(socket.take_error(libc::EPIPE));
        }
        let port = socket.local.map_or(0, |local| local.port());
        let (ip, to) = self.net.route(id, to);
        let (from, to) = (address_of_v4(SocketAddr::new(ip, port)), address_of_v4(to));
        // As in the kernel, a datagram leaves room behind before it arrives.
        self.event(id, libc::EPOLLOUT as u32 | libc::EPOLLWRNORM as u32);
        for host in self.net.hosts_at(self.net.host_of(id), to.ip()) {
            for _ in 0..self.net.wish.weather.copies(self.decisions) {
                self.send_packet(id, Packet::Datagram { host, from, to, bytes: bytes.to_vec() });
            }
        }
        Ok(bytes.len())
    }

    pub(super) fn datagram(&mut self, (sender, host): (Id, Number), from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let receivers = self.udp_receivers(host, from, to);
        if receivers.is_empty() {
            self.udp_refuse(sender, to);
        }
        let at = is_broadcast(to.ip()).then(|| self.net.address_among_all(host));
        for id in receivers {
            let socket = self.socket(id);
            let used: usize = socket.datagrams.iter().map(|datagram| datagram.bytes.len() + OVERHEAD).sum();
            if used + bytes.len() <= socket.options.receive_buffer {
                let (from, to) = (socket.shown(from), socket.shown(to));
                socket.datagrams.push_back(Datagram { from, to, at, bytes: bytes.to_vec() });
                self.event(id, libc::EPOLLIN as u32 | libc::EPOLLRDNORM as u32);
            }
        }
    }

    /// The socket of the host that fits best: connected to the sender, bound to that address, bound to all.
    /// What is sent to all hosts is for all sockets that fit.
    fn udp_receivers(&self, host: Number, from: SocketAddr, to: SocketAddr) -> Vec<Id> {
        let score = |socket: &Socket| {
            let is_open = socket.host == host && socket.is_udp && socket.holds_port;
            let local = socket.local.filter(|local| is_open && local.port() == to.port())?;
            let is_exact = address_of_v4(local).ip() == to.ip();
            let is_peer = socket.remote.map(|remote| address_of_v4(remote) == from);
            (is_peer != Some(false) && (is_exact || is_all(local, socket, to.ip()))).then_some((
                is_exact,
                is_peer.is_some(),
                socket.is_v6 == to.is_ipv6(),
            ))
        };
        let scored = self.net.sockets.iter().filter_map(|(id, socket)| Some((score(socket)?, *id)));
        if !is_broadcast(to.ip()) {
            return scored.max().map(|(_, id)| id).into_iter().collect();
        }
        let mut all: Vec<_> = scored.map(|(_, id)| (Reverse(self.net.sockets[&id].bound_as), id)).collect();
        all.sort_unstable();
        // As in the kernel, the first one gets the datagram itself, after the copies for the others.
        let first = all.len().min(1);
        all.rotate_left(first);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// No socket receives the datagram. A connected sender is told, unless the datagram was for all hosts, or
    /// the sender is bound to the address of all hosts: the answer does not reach such a sender.
    fn udp_refuse(&mut self, sender: Id, to: SocketAddr) {
        let is_peer = |socket: &&mut Socket| {
            let is_to_one = socket.local_ip().is_some() && !is_broadcast(to.ip());
            is_to_one && socket.remote.is_some_and(|remote| address_of_v4(remote) == to)
        };
        if let Some(socket) = self.net.sockets.get_mut(&sender).filter(is_peer) {
            socket.error = libc::ECONNREFUSED;
            self.event(sender, libc::EPOLLERR as u32);
        }
    }

    /// The next datagram.
    pub(in crate::seeded) fn udp_receive(&mut self, id: Id, peeks: bool) -> Answer<Datagram> {
        let socket = self.socket(id);
        if socket.error != 0 {
            return Err(socket.take_error(0));
        }
        let first = if peeks { socket.datagrams.front().cloned() } else { socket.datagrams.pop_front() };
        first.ok_or(libc::EAGAIN)
    }

    /// Whether a call that waits for a datagram ends without one.
    pub(in crate::seeded) fn udp_has_ended(&mut self, id: Id) -> bool {
        self.socket(id).shut & READ != 0
    }

    /// Whether the program has asked for the destinations of datagrams (`IP_PKTINFO`, `IPV6_RECVPKTINFO`).
    pub(in crate::seeded) fn tells_destination(&mut self, id: Id) -> [bool; 2] {
        self.socket(id).options.tells_destination
    }

    pub(in crate::seeded) fn is_udp(&self, fd: i32) -> bool {
        self.net.socket_at(fd).is_some_and(|id| self.net.sockets[&id].is_udp)
    }
}
