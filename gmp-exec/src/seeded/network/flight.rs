//! Packets under way.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::hosts::Number;
use super::{Id, Kernel};

/// What a socket sends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Packet {
    /// Asks for a connection. `tries`: how often the sender has asked before.
    Syn {
        to: SocketAddr,
        tries: u32,
    },
    SynAck {
        to: Id,
    },
    Ack {
        to: Id,
    },
    Data {
        to: Id,
        bytes: Vec<u8>,
    },
    Fin {
        to: Id,
    },
    Reset {
        to: Id,
    },
    Datagram {
        host: Number,
        from: SocketAddr,
        to: SocketAddr,
        bytes: Vec<u8>,
    },
    /// To the sender itself, which has asked often enough: no listener had room.
    TimedOut,
    /// To the sender itself, whose packets have waited since that moment: for long enough.
    GiveUp {
        since: u64,
    },
}

impl Packet {
    pub(super) fn is_datagram(&self) -> bool {
        matches!(self, Packet::Datagram { .. })
    }

    fn length(&self) -> usize {
        match self {
            Packet::Data { bytes, .. } | Packet::Datagram { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Flight {
    /// By their arrivals, and in the order in which they were sent.
    packets: BTreeMap<(u64, u64), (Id, Packet)>,
    sent: u64,
}

impl Flight {
    pub(super) fn next_arrival(&self) -> Option<u64> {
        self.packets.keys().next().map(|(at, _)| *at)
    }

    pub(super) fn add(&mut self, at: u64, from: Id, packet: Packet) {
        self.sent += 1;
        self.packets.insert((at, self.sent), (from, packet));
    }

    fn take_due(&mut self, now: u64) -> Option<(Id, Packet)> {
        self.packets.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove())
    }
}

impl Kernel<'_> {
    /// A packet of that socket's is sent at that moment, and arrives after those that it has sent before.
    pub(super) fn depart(&mut self, from: Id, packet: Packet, sent_at: u64) {
        let weather = self.net.wish.weather;
        let again = if packet.is_datagram() { 0 } else { weather.again(self.decisions) };
        let sent_at = self.sent_until(from, weather.sending(packet.length()), sent_at);
        let earliest = sent_at.saturating_add(weather.delay(self.decisions) + again);
        let overtakes = packet.is_datagram() && weather.reorders(self.decisions);
        let sender = self.net.sockets.get_mut(&from).filter(|_| !overtakes);
        let at = sender.map_or(earliest, |socket| {
            socket.last_arrival = socket.last_arrival.max(earliest);
            socket.last_arrival
        });
        if at <= self.now {
            self.arrive(from, packet);
        } else {
            self.net.flight.add(at, from, packet);
        }
    }

    /// When the last byte is sent of a packet that takes so long: a socket sends one after the other.
    fn sent_until(&mut self, from: Id, takes: u64, sent_at: u64) -> u64 {
        let sender = self.net.sockets.get_mut(&from).filter(|_| takes > 0);
        sender.map_or(sent_at.saturating_add(takes), |socket| {
            socket.sends_until = socket.sends_until.max(sent_at).saturating_add(takes);
            socket.sends_until
        })
    }

    /// What has arrived by now.
    pub(in crate::seeded) fn deliver(&mut self) {
        while let Some((from, packet)) = self.net.flight.take_due(self.now) {
            self.decisions.event("packet", 0);
            self.arrive(from, packet);
        }
    }
}
