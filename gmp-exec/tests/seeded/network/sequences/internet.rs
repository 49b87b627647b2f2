//! TCP and UDP.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;

use super::super::calls::{self, Answer};
use super::sequence::Sequence;

const LENGTH: usize = 40;
const COPIES: RawFd = 500;

pub(super) fn perform(number: u64, _: &[String]) -> Vec<String> {
    let mut internet = Internet { sequence: Sequence::new(number, COPIES, &[]), ports: BTreeMap::new(), reuses: false };
    internet.reuses = internet.sequence.below(3) == 0;
    for _ in 0..LENGTH {
        internet.step();
    }
    // Without an end in time, which would be there for the next sequence.
    internet.sequence.sockets.iter().for_each(|&fd| {
        let _ = calls::set_option(fd, libc::SO_LINGER, &libc::linger { l_onoff: 1, l_linger: 0 });
    });
    internet.sequence.end()
}

struct Internet<'a> {
    sequence: Sequence<'a>,
    /// Ports by the order in which they were seen.
    ports: BTreeMap<u16, usize>,
    /// Whether all sockets have `SO_REUSEADDR` from the start.
    reuses: bool,
}

impl Internet<'_> {
    fn socket(&mut self, is_v6: bool, is_udp: bool) -> RawFd {
        let fd = calls::socket(is_v6, is_udp);
        if self.reuses {
            calls::set_option(fd, libc::SO_REUSEADDR, &1).unwrap();
        }
        self.sequence.sockets.push(fd);
        fd
    }

    fn name(&mut self, name: SocketAddr) -> String {
        let new = self.ports.len() + 1;
        let port = if name.port() == 0 { 0 } else { *self.ports.entry(name.port()).or_insert(new) };
        format!("{} p{port}", name.ip())
    }

    fn named(&mut self, name: Answer<SocketAddr>) -> Answer<String> {
        name.map(|name| self.name(name))
    }

    fn step(&mut self) {
        if self.sequence.opens() {
            return self.open();
        }
        let place = self.sequence.below(self.sequence.sockets.len());
        let fd = self.sequence.sockets[place];
        match self.sequence.below(33) {
            0 => self.pair(),
            1 | 2 => self.bind(place),
            3 => {
                let backlog = self.sequence.below(4) as i32;
                let answer = calls::listen(fd, backlog);
                self.sequence.note("listen", place, answer);
            }
            4 | 5 => self.connect(place),
            6 | 7 => self.accept(place),
            8..=10 => self.sequence.send(place, &[0, 1, 5, 100]),
            11..=13 => self.sequence.receive(place, &[0, 1, 7, 200]),
            14 | 15 => self.sequence.shutdown(place),
            16 | 17 => self.sequence.close(place),
            18 => {
                let answer = self.named(calls::local_name(fd));
                self.sequence.note("getsockname", place, answer);
            }
            19 => {
                let answer = self.named(calls::peer_name(fd));
                self.sequence.note("getpeername", place, answer);
            }
            20 => self.sequence.error(place),
            21 => self.set_option(place),
            22 => self.sequence.available(place),
            23 | 24 => self.sequence.poll(place),
            25 => self.sequence.control(place),
            26 | 27 => self.sequence.events(),
            28 => self.sequence.dup(place),
            29 => self.sequence.twins(place),
            30 => self.send_to(place),
            // Of a connection, `MSG_TRUNC` throws bytes away.
            31 if calls::is_udp(fd) => {
                let most = self.sequence.one_of(&[0, 3, 200]);
                let answer = calls::receive_from(fd, most);
                let answer = answer.map(|(bytes, from)| (bytes, from.map(|from| self.name(from))));
                self.sequence.note("receive from", place, answer);
            }
            _ => {
                if self.sequence.below(4) == 0 {
                    let answer = calls::disconnect(fd);
                    self.sequence.note("disconnect", place, answer);
                }
            }
        }
    }

    fn open(&mut self) {
        let (is_v6, is_udp) = (self.sequence.below(3) == 0, self.sequence.below(3) == 0);
        self.socket(is_v6, is_udp);
        self.sequence.note("socket", self.sequence.sockets.len() - 1, (is_v6, is_udp));
    }

    /// A connection, as most programs have one.
    fn pair(&mut self) {
        if !self.sequence.has_room_for(2) {
            return;
        }
        let [listener, client] = [(); 2].map(|()| self.socket(false, false));
        calls::bind(listener, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)).unwrap();
        calls::listen(listener, 2).unwrap();
        let answer = calls::connect(client, calls::local_name(listener).unwrap());
        self.sequence.note("pair", 0, answer);
        let accepted = calls::accept(listener).unwrap().0;
        self.sequence.sockets.push(accepted);
    }

    /// An address, with the port of some socket, or none.
    fn address(&mut self) -> SocketAddr {
        let other = self.sequence.below(self.sequence.sockets.len());
        let name = calls::local_name(self.sequence.sockets[other]).unwrap();
        let ip: IpAddr = match self.sequence.below(8) {
            0 => Ipv4Addr::new(127, 0, 0, 2).into(),
            1 => Ipv4Addr::UNSPECIFIED.into(),
            2 => Ipv6Addr::LOCALHOST.into(),
            3 => Ipv6Addr::UNSPECIFIED.into(),
            4 => Ipv4Addr::LOCALHOST.into(),
            5 => Ipv4Addr::new(127, 255, 255, 255).into(),
            _ => name.ip(),
        };
        SocketAddr::new(ip, name.port())
    }

    fn bind(&mut self, place: usize) {
        let mut address = self.address();
        if self.sequence.below(2) == 0 {
            address.set_port(0);
        }
        let answer = calls::bind(self.sequence.sockets[place], address);
        let name = self.name(address);
        self.sequence.note(&format!("bind {name}"), place, answer);
    }

    fn connect(&mut self, place: usize) {
        let address = self.address();
        let (fd, all) = (self.sequence.sockets[place], Ipv4Addr::new(127, 255, 255, 255));
        let own = calls::local_name(fd).unwrap();
        let is_for_all = !calls::is_udp(fd) && own.ip() == all;
        // Not simulated: a socket that connects to itself, port 0, and a connection from the address of all.
        if self.differs(place, address) || address.port() == 0 || own.port() == address.port() || is_for_all {
            return;
        }
        let answer = calls::connect(self.sequence.sockets[place], address);
        let name = self.name(address);
        self.sequence.note(&format!("connect {name}"), place, answer);
    }

    /// Whether a UDP socket of IPv6 would get an address of IPv4, which is not simulated.
    fn differs(&self, place: usize, address: SocketAddr) -> bool {
        let fd = self.sequence.sockets[place];
        calls::is_udp(fd) && address.is_ipv4() && calls::local_name(fd).unwrap().is_ipv6()
    }

    fn send_to(&mut self, place: usize) {
        let address = self.address();
        let fd = self.sequence.sockets[place];
        if !calls::is_udp(fd) || self.differs(place, address) {
            return;
        }
        let length = [0, 1, 100, 65_507, 65_528][self.sequence.below(5)];
        let answer = calls::send_to(fd, &vec![7; length], address);
        let name = self.name(address);
        self.sequence.note(&format!("send to {name}"), place, answer);
    }

    fn accept(&mut self, place: usize) {
        if !self.sequence.has_room_for(1) {
            return;
        }
        let answer = calls::accept(self.sequence.sockets[place]);
        let name = answer.map(|(fd, peer)| {
            self.sequence.sockets.push(fd);
            self.name(peer)
        });
        self.sequence.note("accept", place, name);
    }

    fn set_option(&mut self, place: usize) {
        let fd = self.sequence.sockets[place];
        let value = self.sequence.below(2) as i32;
        match self.sequence.below(4) {
            0 => {
                let answer = calls::set_option(fd, libc::SO_LINGER, &libc::linger { l_onoff: value, l_linger: 0 });
                self.sequence.note(&format!("linger {value}"), place, answer);
            }
            1 => {
                let answer = calls::set_option(fd, libc::SO_BROADCAST, &value);
                self.sequence.note(&format!("broadcast {value}"), place, answer);
            }
            _ => {
                let answer = calls::set_option(fd, libc::SO_REUSEADDR, &value);
                self.sequence.note(&format!("reuse {value}"), place, answer);
            }
        }
    }
}
