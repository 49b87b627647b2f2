//! Which addresses are taken.

use std::net::{IpAddr, SocketAddr};

use super::hosts::Number;
use super::socket::{Socket, Tcp};
use super::{Id, Network};

/// How long the port of a connection stays taken after its end.
const TIME_WAIT: u64 = 60_000_000_000;
/// Ports that the network chooses, as Linux does.
const CHOSEN: std::ops::Range<u16> = 32_768..61_000;

#[derive(Debug, Default)]
pub(super) struct Ports {
    chosen: u16,
    ended: Vec<Ended>,
}

/// The address of a connection that has ended.
#[derive(Debug)]
struct Ended {
    host: Number,
    address: SocketAddr,
    is_shared: bool,
    /// Kept so long.
    until: u64,
}

impl Network {
    /// Whether the socket may not have this address.
    pub(super) fn is_taken(&self, id: Id, address: SocketAddr, now: u64) -> bool {
        let socket = &self.sockets[&id];
        let shares = |other: &Socket| {
            let options = (&socket.options, &other.options);
            options.0.reuses_address && options.1.reuses_address && (socket.is_udp || other.tcp != Tcp::Listening)
                || options.0.reuses_port && options.1.reuses_port
        };
        let is_other = |other: &Socket, held: SocketAddr| {
            other.host == socket.host
                && other.is_udp == socket.is_udp
                && overlap(address, socket, held, other)
                && !shares(other)
        };
        let held = self.sockets.iter().filter(|(other, other_socket)| **other != id && other_socket.holds_port);
        let mut held = held.filter_map(|(_, other)| Some((other, other.local?)));
        held.any(|(other, held)| is_other(other, held))
            || !socket.is_udp
                && self.ports.ended.iter().any(|ended| {
                    let overlaps = ended.address == address_of_v4(address)
                        || ended.address.port() == address.port() && is_all(address, socket, ended.address.ip());
                    let is_shared = ended.is_shared && socket.options.reuses_address;
                    ended.host == socket.host && overlaps && ended.until > now && !is_shared
                })
    }

    /// Whether another socket has a connection of these names, or asks for one.
    pub(super) fn has_connection(&self, id: Id, names: (Option<SocketAddr>, Option<SocketAddr>)) -> bool {
        let host = self.sockets[&id].host;
        let canonical = |(local, remote): (Option<SocketAddr>, Option<SocketAddr>)| {
            (local.map(address_of_v4), remote.map(address_of_v4))
        };
        let mut others = self.sockets.iter().filter(|(other, _)| **other != id).map(|(_, socket)| socket);
        others.any(|other| {
            let is_open = !other.is_udp && !matches!(other.tcp, Tcp::Closed | Tcp::Listening);
            is_open && other.host == host && canonical((other.local, other.remote)) == canonical(names)
        })
    }

    /// A port that no other socket has, at any address.
    pub(super) fn free_port(&mut self) -> Option<u16> {
        for _ in CHOSEN {
            let last = self.ports.chosen;
            self.ports.chosen = if CHOSEN.contains(&(last + 1)) { last + 1 } else { CHOSEN.start };
            let port = self.ports.chosen;
            let mut held = self.sockets.values().filter(|socket| socket.holds_port);
            if !held.any(|socket| socket.local.is_some_and(|local| local.port() == port)) {
                return Some(port);
            }
        }
        None
    }

    /// The connection of this address has ended, and has begun to end here.
    pub(super) fn keep_port(&mut self, host: Number, address: SocketAddr, is_shared: bool, now: u64) {
        self.ports.ended.retain(|ended| ended.until > now);
        self.ports.ended.push(Ended { host, address: address_of_v4(address), is_shared, until: now + TIME_WAIT });
    }

    /// The listeners of the host that get connections to that address: those bound to it, else those bound
    /// to all.
    pub(super) fn listeners(&self, host: Number, to: SocketAddr) -> Vec<Id> {
        let bound_to = |is_wanted: &dyn Fn(&Socket, SocketAddr) -> bool| {
            let is_listening = |socket: &Socket| socket.host == host && socket.tcp == Tcp::Listening;
            let listening = self.sockets.iter().filter(|(_, socket)| is_listening(socket));
            let wanted = listening.filter(|(_, socket)| {
                socket.local.is_some_and(|local| local.port() == to.port() && is_wanted(socket, local))
            });
            wanted.map(|(id, _)| *id).collect::<Vec<_>>()
        };
        let to = address_of_v4(to);
        let exact = bound_to(&|_, local| address_of_v4(local).ip() == to.ip());
        if !exact.is_empty() {
            return exact;
        }
        let same = bound_to(&|socket, local| local.ip().is_unspecified() && socket.is_v6 == to.is_ipv6());
        if !same.is_empty() {
            return same;
        }
        bound_to(&|socket, local| local.ip().is_unspecified() && socket.is_v6 && !socket.options.is_v6_only)
    }
}

fn overlap(one: SocketAddr, one_socket: &Socket, other: SocketAddr, other_socket: &Socket) -> bool {
    let (one, other) = (address_of_v4(one), address_of_v4(other));
    one.port() == other.port()
        && (one.ip() == other.ip() || is_all(one, one_socket, other.ip()) || is_all(other, other_socket, one.ip()))
}

/// Whether the socket's address stands for all, and that address is among them.
pub(super) fn is_all(address: SocketAddr, socket: &Socket, of: IpAddr) -> bool {
    address.ip().is_unspecified() && (socket.is_v6 == of.is_ipv6() || socket.is_v6 && !socket.options.is_v6_only)
}

/// A mapped address is that of IPv4.
pub(super) fn address_of_v4(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
