//! Random sequences of calls: the simulated network answers as the kernel does.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;

use super::calls::{self, Answer};
use crate::child::run_with;

const SEQUENCES: u64 = 4_000;
const LENGTH: usize = 40;
const MOST_SOCKETS: usize = 6;

pub(crate) fn scenario() {
    let first = std::env::var("SEQUENCES_FROM").map_or(0, |from| from.parse().unwrap());
    for number in first..first + SEQUENCES {
        println!("sequence {number}");
        perform(number).iter().for_each(|line| println!("{line}"));
    }
}

/// A sequence, and how far it is.
struct Sequence {
    random: u64,
    epoll: RawFd,
    sockets: Vec<RawFd>,
    /// Ports by the order in which they were seen.
    ports: BTreeMap<u16, usize>,
    lines: Vec<String>,
}

fn perform(number: u64) -> Vec<String> {
    let mut sequence = Sequence {
        random: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678,
        epoll: calls::epoll(),
        sockets: Vec::new(),
        ports: BTreeMap::new(),
        lines: Vec::new(),
    };
    for _ in 0..LENGTH {
        sequence.step();
    }
    // Without an end in time, which would be there for the next sequence.
    sequence.sockets.iter().for_each(|&fd| {
        let _ = calls::set_option(fd, libc::SO_LINGER, &libc::linger { l_onoff: 1, l_linger: 0 });
    });
    sequence.sockets.iter().for_each(|&fd| assert_eq!(calls::close(fd), Ok(0)));
    calls::close(sequence.epoll).unwrap();
    sequence.lines
}

impl Sequence {
    fn below(&mut self, count: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) as usize) % count
    }

    fn note(&mut self, call: &str, place: usize, answer: impl Debug) {
        self.lines.push(format!("{call} {place}: {answer:?}"));
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
        if self.sockets.is_empty() || self.sockets.len() < MOST_SOCKETS && self.below(12) == 0 {
            return self.open();
        }
        let place = self.below(self.sockets.len());
        let fd = self.sockets[place];
        match self.below(33) {
            0 => self.pair(),
            1 | 2 => self.bind(place),
            3 => {
                let backlog = self.below(4) as i32;
                let answer = calls::listen(fd, backlog);
                self.note("listen", place, answer);
            }
            4 | 5 => self.connect(place),
            6 | 7 => self.accept(place),
            8..=10 => {
                let count = [0, 1, 5, 100][self.below(4)];
                let bytes: Vec<u8> = (0..count).map(|i| i as u8).collect();
                let answer = if self.below(2) == 0 { calls::send(fd, &bytes) } else { calls::write(fd, &bytes) };
                self.note("send", place, answer);
            }
            11..=13 => {
                let most = [0, 1, 7, 200][self.below(4)];
                let answer = match self.below(3) {
                    0 => calls::receive(fd, most, libc::MSG_PEEK),
                    1 => calls::receive(fd, most, 0),
                    _ => calls::read(fd, most),
                };
                self.note("receive", place, answer);
            }
            14 | 15 => {
                let how = [libc::SHUT_RD, libc::SHUT_WR, libc::SHUT_RDWR, libc::SHUT_WR][self.below(4)];
                let answer = calls::shutdown(fd, how);
                self.note(&format!("shutdown {how}"), place, answer);
            }
            16 | 17 => {
                self.sockets.remove(place);
                let answer = calls::close(fd);
                self.note("close", place, answer);
            }
            18 => {
                let answer = self.named(calls::local_name(fd));
                self.note("getsockname", place, answer);
            }
            19 => {
                let answer = self.named(calls::peer_name(fd));
                self.note("getpeername", place, answer);
            }
            20 => {
                let answer = (calls::option(fd, libc::SO_ERROR), calls::option(fd, libc::SO_ACCEPTCONN));
                self.note("error", place, answer);
            }
            21 => self.set_option(place),
            22 => self.note("available", place, calls::available(fd)),
            23 | 24 => self.note("poll", place, calls::poll(fd)),
            25 => self.control(place),
            26 | 27 => {
                let events = calls::events(self.epoll);
                self.note("events", 0, events);
            }
            30 => self.send_to(place),
            // Of a connection, `MSG_TRUNC` throws bytes away.
            31 | 32 if calls::is_udp(fd) => {
                let most = [0, 3, 200][self.below(3)];
                let answer = calls::receive_from(fd, most);
                let answer = answer.map(|(bytes, from)| (bytes, from.map(|from| self.name(from))));
                self.note("receive from", place, answer);
            }
            28 if self.sockets.len() < MOST_SOCKETS => {
                self.sockets.push(calls::dup(fd));
                self.note("dup", place, ());
            }
            _ => {
                if self.below(4) == 0 {
                    let answer = calls::disconnect(fd);
                    self.note("disconnect", place, answer);
                }
            }
        }
    }

    fn open(&mut self) {
        let (is_v6, is_udp) = (self.below(3) == 0, self.below(3) == 0);
        self.sockets.push(calls::socket(is_v6, is_udp));
        self.note("socket", self.sockets.len() - 1, (is_v6, is_udp));
    }

    /// A connection, as most programs have one.
    fn pair(&mut self) {
        if self.sockets.len() + 3 > MOST_SOCKETS + 2 {
            return;
        }
        let [listener, client] = [calls::socket(false, false), calls::socket(false, false)];
        self.sockets.extend([listener, client]);
        calls::bind(listener, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)).unwrap();
        calls::listen(listener, 2).unwrap();
        let answer = calls::connect(client, calls::local_name(listener).unwrap());
        self.note("pair", 0, answer);
        let accepted = calls::accept(listener).unwrap().0;
        self.sockets.push(accepted);
    }

    /// An address, with the port of some socket, or none.
    fn address(&mut self) -> SocketAddr {
        let other = self.below(self.sockets.len());
        let name = calls::local_name(self.sockets[other]).unwrap();
        let ip: IpAddr = match self.below(7) {
            0 => Ipv4Addr::new(127, 0, 0, 2).into(),
            1 => Ipv4Addr::UNSPECIFIED.into(),
            2 => Ipv6Addr::LOCALHOST.into(),
            3 => Ipv6Addr::UNSPECIFIED.into(),
            4 => Ipv4Addr::LOCALHOST.into(),
            _ => name.ip(),
        };
        SocketAddr::new(ip, name.port())
    }

    fn bind(&mut self, place: usize) {
        let mut address = self.address();
        if self.below(2) == 0 {
            address.set_port(0);
        }
        let answer = calls::bind(self.sockets[place], address);
        let name = self.name(address);
        self.note(&format!("bind {name}"), place, answer);
    }

    fn connect(&mut self, place: usize) {
        let address = self.address();
        // A socket that connects to itself, and port 0, are not simulated.
        if self.differs(place, address)
            || address.port() == 0
            || calls::local_name(self.sockets[place]).unwrap().port() == address.port()
        {
            return;
        }
        let answer = calls::connect(self.sockets[place], address);
        let name = self.name(address);
        self.note(&format!("connect {name}"), place, answer);
    }

    /// Whether a UDP socket of IPv6 would get an address of IPv4, which is not simulated.
    fn differs(&self, place: usize, address: SocketAddr) -> bool {
        let fd = self.sockets[place];
        calls::is_udp(fd) && address.is_ipv4() && calls::local_name(fd).unwrap().is_ipv6()
    }

    fn send_to(&mut self, place: usize) {
        let address = self.address();
        let fd = self.sockets[place];
        if !calls::is_udp(fd) || self.differs(place, address) {
            return;
        }
        let length = [0, 1, 100, 65_507, 65_528][self.below(5)];
        let answer = calls::send_to(fd, &vec![7; length], address);
        let name = self.name(address);
        self.note(&format!("send to {name}"), place, answer);
    }

    fn accept(&mut self, place: usize) {
        if self.sockets.len() > MOST_SOCKETS {
            return;
        }
        let answer = calls::accept(self.sockets[place]);
        let name = answer.map(|(fd, peer)| {
            self.sockets.push(fd);
            self.name(peer)
        });
        self.note("accept", place, name);
    }

    fn set_option(&mut self, place: usize) {
        let fd = self.sockets[place];
        let value = self.below(2) as i32;
        match self.below(3) {
            0 => {
                let answer = calls::set_option(fd, libc::SO_LINGER, &libc::linger { l_onoff: value, l_linger: 0 });
                self.note(&format!("linger {value}"), place, answer);
            }
            _ => {
                let answer = calls::set_option(fd, libc::SO_REUSEADDR, &value);
                self.note(&format!("reuse {value}"), place, answer);
            }
        }
    }

    fn control(&mut self, place: usize) {
        let operation =
            [libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_MOD, libc::EPOLL_CTL_DEL][self.below(4)];
        let mode = [0, libc::EPOLLET, libc::EPOLLET, libc::EPOLLONESHOT][self.below(4)];
        let events = [libc::EPOLLIN, libc::EPOLLOUT, libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP][self.below(3)];
        let answer = calls::control(self.epoll, operation, self.sockets[place], (events | mode) as u32, place as u64);
        self.note(&format!("control {operation} {events} {mode}"), place, answer);
    }
}

#[test]
fn the_simulated_network_answers_as_the_kernel_does() {
    let from = std::env::var("SEQUENCES_FROM").unwrap_or_else(|_| "0".to_owned());
    let run = run_with("sequences", 1, &[("GMP_SEED_NET", "calm"), ("SEQUENCES_FROM", &from)]);
    assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "{}", run.stderr);
    let texts = run.stdout.split("sequence ").skip(1);
    let (mut compared, mut differences) = (0, Vec::new());
    for text in texts {
        let mut lines = text.lines().take_while(|line| !line.is_empty() && !line.starts_with("test "));
        let number = lines.next().unwrap().parse().unwrap();
        let simulated: Vec<_> = lines.map(str::to_owned).collect();
        // The kernel delivers on another thread now and then, when it is busy.
        if (0..5).all(|_| perform(number) != simulated) {
            differences.push(format!("sequence {number}:\n{}", side_by_side(&perform(number), &simulated)));
        }
        compared += 1;
    }
    assert_eq!(compared, SEQUENCES);
    differences.sort_by_key(String::len);
    let few: Vec<_> = differences.iter().take(4).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), few.join("\n"));
}

fn side_by_side(kernel: &[String], simulated: &[String]) -> String {
    let first = kernel.iter().zip(simulated).position(|(one, other)| one != other).unwrap_or(0);
    let same = kernel[..first].join("\n");
    format!("{same}\nkernel:    {:?}\nsimulated: {:?}", kernel.get(first), simulated.get(first))
}
