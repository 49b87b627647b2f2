//! A simulated socket, and what is ready at it.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::Id;
use super::hosts::{Number, is_broadcast};
use super::placeholder::Options;
use super::udp::Datagram;

/// README.md, "The states of TCP".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Tcp {
    #[default]
    Closed,
    Listening,
    SynSent,
    Accepting,
    Established,
    CloseWait,
    FinWait,
}

/// How far `connect` has come, apart from the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Phase {
    #[default]
    Unconnected,
    Connecting,
    Connected,
    /// `shutdown` came before the end of `connect`.
    Disconnecting,
}

/// Directions that are shut, as bits.
pub(super) const READ: u8 = 1;
pub(super) const WRITE: u8 = 2;
pub(super) const BOTH: u8 = READ | WRITE;

#[derive(Debug, Default)]
pub(super) struct Socket {
    pub(super) host: Number,
    pub(super) is_v6: bool,
    pub(super) is_udp: bool,
    pub(super) options: Options,
    pub(super) tcp: Tcp,
    pub(super) phase: Phase,
    pub(super) local: Option<SocketAddr>,
    pub(super) remote: Option<SocketAddr>,
    /// Whether the local address can't be bound by others.
    pub(super) holds_port: bool,
    /// Greater than that of sockets that were bound before.
    pub(super) bound_as: Id,
    /// What `bind` has asked for.
    pub(super) bound: Option<SocketAddr>,
    pub(super) peer: Option<Id>,
    pub(super) shut: u8,
    /// The peer has sent `Fin`.
    pub(super) is_done: bool,
    /// An `errno`, or 0.
    pub(super) error: i32,
    pub(super) received: VecDeque<u8>,
    pub(super) datagrams: VecDeque<Datagram>,
    /// Bytes that were sent, and that the peer has not read.
    pub(super) unread: usize,
    /// The size of the peer's buffer.
    pub(super) peer_buffer: usize,
    /// The socket has no descriptor: all were closed, or it was not accepted yet.
    pub(super) is_orphan: bool,
    pub(super) backlog: usize,
    /// Connections that can be accepted.
    pub(super) queue: VecDeque<Id>,
    /// Where an accepted connection comes from.
    pub(super) listener: Option<Id>,
    /// When the last packet with bytes has left the socket, if the weather has a rate.
    pub(super) sends_until: u64,
    /// When the last packet arrives that the socket has sent.
    pub(super) last_arrival: u64,
}

impl Socket {
    pub(super) fn new(host: Number, is_v6: bool, is_udp: bool, options: Options) -> Socket {
        Socket { host, is_v6, is_udp, options, ..Socket::default() }
    }

    /// What is ready, in the bits of `epoll` and `poll`.
    pub(super) fn ready(&self) -> u32 {
        const READABLE: i32 = libc::EPOLLIN | libc::EPOLLRDNORM;
        const WRITABLE: i32 = libc::EPOLLOUT | libc::EPOLLWRNORM;
        let has_begun = !matches!(self.tcp, Tcp::SynSent | Tcp::Accepting);
        let bits = [
            (self.shut == BOTH || self.tcp == Tcp::Closed && !self.is_udp, libc::EPOLLHUP),
            (self.shut & READ != 0, READABLE | libc::EPOLLRDHUP),
            (!self.received.is_empty() || !self.datagrams.is_empty(), READABLE),
            (has_begun && (self.shut & WRITE != 0 || self.has_room()), WRITABLE),
            (self.error != 0, libc::EPOLLERR),
        ];
        if self.tcp == Tcp::Listening {
            return if self.queue.is_empty() { 0 } else { READABLE as u32 };
        }
        bits.into_iter().filter(|(is_ready, _)| *is_ready).fold(0, |all, (_, bits)| all | bits as u32)
    }

    /// A port that `bind` has named stays until the socket is closed; one that it has chosen does not.
    pub(super) fn keeps_port(&self) -> bool {
        self.bound.is_some_and(|bound| bound.port() != 0)
    }

    /// The address that packets come from, if `bind` has named one.
    pub(super) fn local_ip(&self) -> Option<IpAddr> {
        self.local.map(|local| local.ip()).filter(|ip| !ip.is_unspecified() && !is_broadcast(*ip))
    }

    /// A UDP socket has no peer any more, and keeps what `bind` has named.
    pub(super) fn forget_local(&mut self) {
        self.holds_port &= self.keeps_port();
        let ip = self.bound.map_or(self.unspecified(), |bound| bound.ip());
        let port = self.local.filter(|_| self.holds_port).map_or(0, |local| local.port());
        self.local = Some(SocketAddr::new(ip, port));
    }

    pub(super) fn capacity(&self) -> usize {
        self.options.send_buffer + self.peer_buffer
    }

    fn has_room(&self) -> bool {
        self.unread * 3 <= self.capacity() * 2
    }

    /// The peer has read so many bytes. Returns whether there is room now, and was none.
    pub(super) fn has_become_writable(&mut self, read: usize) -> bool {
        let had_room = self.has_room();
        self.unread = self.unread.saturating_sub(read);
        !had_room && self.has_room()
    }

    /// The error that waits, or this one.
    pub(super) fn take_error(&mut self, other: i32) -> i32 {
        match std::mem::take(&mut self.error) {
            0 => other,
            error => error,
        }
    }

    pub(super) fn unspecified(&self) -> IpAddr {
        if self.is_v6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() }
    }

    /// As the program sees it: IPv4 in a socket of IPv6 is mapped.
    pub(super) fn shown(&self, address: SocketAddr) -> SocketAddr {
        match address.ip() {
            IpAddr::V4(ip) if self.is_v6 => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
            _ => address,
        }
    }
}
