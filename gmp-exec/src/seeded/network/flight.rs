//! Packets under way.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::{Id, Kernel};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Packet {
    /// Asks for a connection. `tries`: how often the sender has asked before.
    Syn {
        from: Id,
        to: SocketAddr,
        tries: u32,
    },
    SynAck {
        to: Id,
        from: Id,
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
        sender: Id,
        from: SocketAddr,
        to: SocketAddr,
        bytes: Vec<u8>,
    },
    /// The sender has asked often enough, and no listener had room.
    TimedOut {
        to: Id,
    },
}

#[derive(Debug, Default)]
pub(super) struct Flight {
    /// By their arrivals, and in the order in which they were sent.
    packets: BTreeMap<(u64, u64), Packet>,
    sent: u64,
}

impl Flight {
    pub(super) fn next_arrival(&self) -> Option<u64> {
        self.packets.keys().next().map(|(at, _)| *at)
    }

    pub(super) fn add(&mut self, at: u64, packet: Packet) {
        self.sent += 1;
        self.packets.insert((at, self.sent), packet);
    }

    fn take_due(&mut self, now: u64) -> Option<Packet> {
        self.packets.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove())
    }
}

impl Kernel<'_> {
    /// Sends a packet of that socket's, which arrives after those that it has sent before.
    pub(super) fn send_packet(&mut self, from: Id, packet: Packet) {
        let weather = self.net.wish.weather;
        let again = if matches!(packet, Packet::Datagram { .. }) { 0 } else { weather.again(self.decisions) };
        let earliest = self.now + weather.delay(self.decisions) + again;
        let overtakes = matches!(packet, Packet::Datagram { .. }) && weather.reorders(self.decisions);
        let sender = self.net.sockets.get_mut(&from).filter(|_| !overtakes);
        let at = sender.map_or(earliest, |socket| {
            socket.last_arrival = socket.last_arrival.max(earliest);
            socket.last_arrival
        });
        if at <= self.now {
            self.arrive(packet);
        } else {
            self.net.flight.add(at, packet);
        }
    }

    /// What has arrived by now.
    pub(in crate::seeded) fn deliver(&mut self) {
        while let Some(packet) = self.net.flight.take_due(self.now) {
            self.decisions.event("packet", 0);
            self.arrive(packet);
        }
    }
}
