//! What packets do where they arrive.

use std::net::SocketAddr;

use super::{ANY, Tcp};
use crate::seeded::decisions::Kind;
use crate::seeded::network::flight::Packet;
use crate::seeded::network::ports::address_of_v4;
use crate::seeded::network::socket::{Phase, READ, Socket, WRITE};
use crate::seeded::network::{Id, Kernel};

const SECOND: u64 = 1_000_000_000;
/// How often a connection is asked for again.
const MOST_TRIES: u32 = 7;

impl Kernel<'_> {
    pub(in crate::seeded::network) fn arrive(&mut self, from: Id, packet: Packet) {
        if !self.finds_host(from, &packet) {
            return;
        }
        match packet {
            Packet::Syn { to, tries } => self.syn(from, to, tries),
            Packet::SynAck { to } => self.syn_ack(to, from),
            Packet::Ack { to } => self.ack(to),
            Packet::Data { to, bytes } => self.data(from, to, &bytes),
            Packet::Fin { to } => self.fin(from, to),
            Packet::Reset { to } => self.reset(to),
            Packet::Datagram { host, from: address, to, bytes } => self.datagram((from, host), address, to, &bytes),
            Packet::TimedOut => self.fail(from, libc::ETIMEDOUT),
            Packet::GiveUp { since } => self.give_up(from, since),
        }
    }

    fn state(&self, id: Id) -> Option<Tcp> {
        self.net.sockets.get(&id).map(|socket| socket.tcp)
    }

    fn syn(&mut self, from: Id, to: SocketAddr, tries: u32) {
        if self.state(from) != Some(Tcp::SynSent) {
            return;
        }
        let host = self.net.host_for(from, to);
        let listeners = self.net.listeners(host, to);
        if listeners.is_empty() {
            return self.send_packet(0, Packet::Reset { to: from });
        }
        let listener = listeners[self.decisions.decide(Kind::Net, listeners.len())];
        let is_coming = |socket: &&Socket| socket.tcp == Tcp::Accepting && socket.listener == Some(listener);
        let coming = self.net.sockets.values().filter(is_coming).count();
        let waiting = self.socket(listener);
        if coming + waiting.queue.len() <= waiting.backlog {
            return self.answer(from, to, listener);
        }
        let again = if tries < MOST_TRIES { Packet::Syn { to, tries: tries + 1 } } else { Packet::TimedOut };
        self.net.flight.add(self.now + (SECOND << tries), from, again);
    }

    /// The listener's side of a new connection.
    fn answer(&mut self, from: Id, to: SocketAddr, listener: Id) {
        let client = self.socket(from);
        let (client_address, buffer) = (client.local.map(address_of_v4), client.options.receive_buffer);
        let id = self.net.new_id();
        let listening = self.socket(listener);
        let mut socket = Socket::new(listening.host, listening.is_v6, false, listening.options);
        socket.tcp = Tcp::Accepting;
        socket.phase = Phase::Connected;
        let local = socket.shown(to);
        socket.local = Some(local);
        let names_ip = listening.bound.is_some_and(|bound| !bound.ip().is_unspecified());
        socket.bound = names_ip.then_some(SocketAddr::new(local.ip(), 0));
        socket.remote = client_address.map(|address| socket.shown(address));
        socket.holds_port = true;
        socket.shut = listening.shut;
        socket.peer = Some(from);
        socket.peer_buffer = buffer;
        socket.listener = Some(listener);
        socket.is_orphan = true;
        self.net.sockets.insert(id, socket);
        self.send_packet(id, Packet::SynAck { to: from });
    }

    fn syn_ack(&mut self, to: Id, from: Id) {
        if self.state(to) != Some(Tcp::SynSent) {
            return self.reset(from);
        }
        let buffer = self.net.sockets.get(&from).map_or(0, |socket| socket.options.receive_buffer);
        let socket = self.socket(to);
        (socket.tcp, socket.peer, socket.peer_buffer) = (Tcp::Established, Some(from), buffer);
        self.event(to, ANY);
        self.send_packet(to, Packet::Ack { to: from });
    }

    fn ack(&mut self, to: Id) {
        let Some(listener) = self.net.sockets.get(&to).and_then(|socket| socket.listener) else { return };
        if self.state(listener) != Some(Tcp::Listening) {
            self.reset_peer(to);
            self.net.sockets.remove(&to);
            return;
        }
        let socket = self.socket(to);
        (socket.tcp, socket.is_orphan) = (Tcp::Established, false);
        self.socket(listener).queue.push_back(to);
        self.event(listener, libc::EPOLLIN as u32 | libc::EPOLLRDNORM as u32);
        // By `shutdown` before `listen`.
        if self.socket(to).shut & WRITE != 0 {
            self.send_fin(to);
        }
    }

    fn data(&mut self, from: Id, to: Id, bytes: &[u8]) {
        let Some(socket) = self.net.sockets.get_mut(&to) else {
            return self.send_packet(to, Packet::Reset { to: from });
        };
        match socket.tcp {
            Tcp::Established => {}
            Tcp::FinWait if socket.shut & READ == 0 => {}
            Tcp::FinWait => {
                self.reset_peer(to);
                return self.fail(to, libc::ECONNRESET);
            }
            _ => return self.reset_peer(to),
        }
        let socket = self.socket(to);
        socket.received.extend(bytes);
        self.event(to, libc::EPOLLIN as u32 | libc::EPOLLRDNORM as u32);
    }

    fn fin(&mut self, from: Id, to: Id) {
        let now = self.now;
        let Some(socket) = self.net.sockets.get_mut(&to) else {
            return self.send_packet(to, Packet::Reset { to: from });
        };
        socket.shut |= READ;
        socket.is_done = true;
        match socket.tcp {
            Tcp::Established => {
                socket.tcp = Tcp::CloseWait;
                self.event(to, ANY);
            }
            Tcp::FinWait => {
                let (host, local, is_shared) = (socket.host, socket.local, socket.options.reuses_address);
                if let Some(local) = local {
                    self.net.keep_port(host, local, is_shared, now);
                }
                self.finish(to);
            }
            _ => {}
        }
    }

    fn reset(&mut self, to: Id) {
        let error = match self.state(to) {
            None | Some(Tcp::Closed | Tcp::Listening) => return,
            Some(Tcp::SynSent) => libc::ECONNREFUSED,
            Some(Tcp::CloseWait) => libc::EPIPE,
            Some(_) => libc::ECONNRESET,
        };
        self.fail(to, error);
    }

    pub(in crate::seeded::network) fn fail(&mut self, to: Id, error: i32) {
        if let Some(socket) = self.net.sockets.get_mut(&to) {
            socket.error = error;
            self.finish(to);
        }
    }

    /// The weather ends a connection.
    pub(super) fn break_off(&mut self, id: Id) {
        self.reset_peer(id);
        self.reset(id);
    }
}
