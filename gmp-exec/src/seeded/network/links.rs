//! What lies between hosts: packets wait, or are lost, while a way is closed (README.md, "Hosts").

use std::collections::BTreeMap;

use super::flight::Packet;
use super::hosts::Number;
use super::socket::Tcp;
use super::{Answer, Id, Kernel, Network};

/// From one host to another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::seeded) enum Way {
    Open,
    /// Packets are lost. TCP sends them again.
    Cut,
    /// Packets wait.
    Held,
    /// The sender has crashed.
    Dead,
}

/// How often TCP sends a packet again: after so long, then twice as late each time, but no later.
const FIRST_AGAIN: u64 = 200_000_000;
const LAST_AGAIN: u64 = 120_000_000_000;
/// When TCP gives up: a connection, and its beginning (Linux: `tcp_retries2`, `tcp_syn_retries`).
const CONNECTION_LASTS: u64 = 924_600_000_000;
const BEGINNING_LASTS: u64 = 127_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Links {
    /// Those that are not open.
    closed: BTreeMap<(Number, Number), Way>,
    /// In the order in which they were sent.
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    from: Id,
    hosts: (Number, Number),
    packet: Packet,
    since: u64,
}

impl Network {
    /// Which hosts a packet of that socket goes from, and to.
    fn hosts_of(&self, from: Id, packet: &Packet) -> (Number, Number) {
        let socket = |id: &Id| self.sockets.get(id);
        match packet {
            Packet::Syn { to, .. } => (self.host_of(from), self.host_for(from, *to)),
            Packet::Datagram { host, .. } => (self.host_of(from), *host),
            Packet::SynAck { to }
            | Packet::Ack { to }
            | Packet::Data { to, .. }
            | Packet::Fin { to }
            | Packet::Reset { to } => {
                // Of two sockets that were connected, one may be gone.
                let other = |id: &Id| Some(self.host_for(*id, socket(id)?.remote?));
                let host =
                    |id: &Id, peer: &Id| socket(id).map(|socket| socket.host).or_else(|| other(peer)).unwrap_or(0);
                (host(&from, to), host(to, &from))
            }
            Packet::TimedOut | Packet::GiveUp { .. } => (0, 0),
        }
    }

    fn way(&self, (from, to): (Number, Number)) -> Way {
        if from == to {
            return Way::Open;
        }
        match (self.hosts[from].is_down, self.hosts[to].is_down) {
            (true, _) => Way::Dead,
            (_, true) => Way::Cut,
            _ => self.links.closed.get(&(from, to)).copied().unwrap_or(Way::Open),
        }
    }
}

impl Network {
    /// Forgets the host's sockets that wait to be accepted, or that were closed and wait for their peers. All
    /// others are closed by the tasks that own them.
    fn forget_without_descriptor(&mut self, host: Number) {
        let Network { sockets, descriptors, .. } = self;
        sockets.retain(|id, socket| socket.host != host || descriptors.values().any(|other| other == id));
        sockets.values_mut().filter(|socket| socket.host == host).for_each(|socket| socket.queue.clear());
    }
}

impl Kernel<'_> {
    /// Sends a packet of that socket's, if the way to its receiver is open.
    pub(super) fn send_packet(&mut self, from: Id, packet: Packet) {
        let hosts = self.net.hosts_of(from, &packet);
        match self.net.way(hosts) {
            Way::Open => self.depart(from, packet, self.now),
            Way::Dead => {}
            Way::Cut if packet.is_datagram() => {}
            Way::Cut | Way::Held => self.keep(from, hosts, packet),
        }
    }

    /// Whether a packet that arrives now finds its host. If not, TCP sends the packet again.
    pub(super) fn finds_host(&mut self, from: Id, packet: &Packet) -> bool {
        let hosts = self.net.hosts_of(from, packet);
        let finds = !self.net.hosts[hosts.1].is_down || hosts.0 == hosts.1;
        if !finds && !packet.is_datagram() {
            self.keep(from, hosts, packet.clone());
        }
        finds
    }

    fn keep(&mut self, from: Id, hosts: (Number, Number), packet: Packet) {
        let waiting = &mut self.net.links.waiting;
        let lasts = match packet {
            Packet::Syn { .. } => BEGINNING_LASTS,
            _ => CONNECTION_LASTS,
        };
        let gives_up = !packet.is_datagram() && !waiting.iter().any(|waiting| waiting.from == from);
        waiting.push(Waiting { from, hosts, packet, since: self.now });
        if gives_up {
            self.net.flight.add(self.now + lasts, from, Packet::GiveUp { since: self.now });
        }
    }

    /// The packets that the socket has sent at that moment may still be on their way.
    pub(super) fn give_up(&mut self, from: Id, since: u64) {
        let waiting = &mut self.net.links.waiting;
        if waiting.iter().any(|waiting| waiting.from == from && waiting.since == since) {
            waiting.retain(|waiting| waiting.from != from);
            // Nobody waits for the answer to a `Reset`.
            if self.net.sockets.get(&from).is_some_and(|socket| socket.tcp != Tcp::Closed) {
                self.fail(from, libc::ETIMEDOUT);
            }
        }
    }

    /// # Errors
    ///
    /// `EINVAL`: there is no such host.
    pub(in crate::seeded) fn set_way(&mut self, from: Number, to: Number, way: Way) -> Answer<()> {
        self.net.host(from)?;
        self.net.host(to)?;
        let was = self.net.way((from, to));
        self.net.links.closed.insert((from, to), way);
        if way == Way::Open {
            self.net.links.closed.remove(&(from, to));
            self.release(|hosts| hosts == (from, to), was == Way::Cut);
        }
        Ok(())
    }

    /// The host crashes: nothing that is sent comes from it or to it any more. Or it starts again, with
    /// none of its sockets.
    ///
    /// # Errors
    ///
    /// `EINVAL`: there is no such host.
    pub(in crate::seeded) fn set_power(&mut self, host: Number, is_on: bool) -> Answer<()> {
        self.net.host(host)?.is_down = !is_on;
        if is_on {
            self.release(|hosts| hosts.1 == host, true);
        } else {
            self.net.forget_without_descriptor(host);
        }
        Ok(())
    }

    /// Whether a socket is that of a host that has crashed.
    pub(super) fn is_down(&mut self, id: Id) -> bool {
        let host = self.socket(id).host;
        self.net.hosts[host].is_down
    }

    /// Packets between these hosts go on. Those that were lost do so when TCP sends them again.
    fn release(&mut self, are_these: impl Fn((Number, Number)) -> bool, were_lost: bool) {
        for waiting in std::mem::take(&mut self.net.links.waiting) {
            let Waiting { from, hosts, packet, since } = waiting;
            if are_these(hosts) && self.net.way(hosts) == Way::Open {
                let earliest = if were_lost { next_try(since, self.now) } else { self.now };
                self.depart(from, packet, earliest);
            } else {
                self.net.links.waiting.push(Waiting { from, hosts, packet, since });
            }
        }
    }
}

/// When TCP sends a packet again that was lost then, at this moment or later.
fn next_try(since: u64, now: u64) -> u64 {
    let (mut at, mut after) = (since + FIRST_AGAIN, FIRST_AGAIN);
    while at < now {
        after = (after * 2).min(LAST_AGAIN);
        at += after;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_packet_is_sent_again_ever_later() {
        let ms = |time: u64| time * 1_000_000;
        let tries = [0, 200, 201, 601, 1_400, 1_401].map(|now| next_try(0, ms(now)));
        assert_eq!(tries, [200, 200, 600, 1_400, 1_400, 3_000].map(ms));
        let late = next_try(0, ms(3_600_000)) - ms(3_600_000);
        assert!(late <= LAST_AGAIN, "{late}");
    }
}
