//! What sequences of all sockets have in common.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hasher};
use std::os::fd::RawFd;
use std::sync::LazyLock;

use super::super::calls::{self, Answer};

const MOST_SOCKETS: usize = 6;
pub(super) const MOST_SENT: usize = 300_000;
/// Longer texts are told by their length and hash.
const MOST_TOLD: usize = 200;

/// A sequence, and how far it is.
pub(super) struct Sequence<'a> {
    random: u64,
    epoll: RawFd,
    /// Copies of descriptors get numbers from here on, which nothing else in the process has: an epoll
    /// knows the number of a descriptor after its end.
    least: RawFd,
    pub(super) sockets: Vec<RawFd>,
    pub(super) lines: Vec<String>,
    /// What was sent last.
    sent: u8,
    /// What sockets under a seed have answered, if these are the kernel's.
    seeded: &'a [String],
    /// What the epoll was asked for, by descriptor.
    entries: BTreeMap<RawFd, (u32, u64)>,
}

impl Sequence<'_> {
    pub(super) fn new(number: u64, least: RawFd, seeded: &[String]) -> Sequence<'_> {
        Sequence {
            random: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678,
            epoll: calls::epoll(),
            least,
            sockets: Vec::new(),
            lines: Vec::new(),
            sent: 0,
            seeded,
            entries: BTreeMap::new(),
        }
    }

    pub(super) fn end(self) -> Vec<String> {
        self.sockets.iter().for_each(|&fd| assert_eq!(calls::close(fd), Ok(0)));
        calls::close(self.epoll).unwrap();
        self.lines
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) as usize) % count
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(super) fn note(&mut self, call: &str, place: usize, answer: impl Debug) {
        self.lines.push(format!("{call} {place}: {answer:?}"));
    }

    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.sockets.len() + more <= MOST_SOCKETS + 1
    }

    /// Whether the next call opens a socket.
    pub(super) fn opens(&mut self) -> bool {
        self.sockets.is_empty() || self.sockets.len() < MOST_SOCKETS && self.below(12) == 0
    }

    /// The next bytes to send, which count up.
    pub(super) fn bytes(&mut self, count: usize) -> &'static [u8] {
        static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| (0..=u8::MAX).cycle().take(MOST_SENT + 256).collect());
        let first = usize::from(self.sent);
        self.sent = self.sent.wrapping_add(count as u8);
        &BYTES[first..first + count]
    }

    pub(super) fn send(&mut self, place: usize, counts: &[usize]) {
        let (fd, count) = (self.sockets[place], self.one_of(counts));
        let bytes = self.bytes(count);
        let answer = if self.below(2) == 0 { calls::send(fd, bytes) } else { calls::write(fd, bytes) };
        self.note("send", place, answer);
    }

    pub(super) fn receive(&mut self, place: usize, rooms: &[usize]) {
        let (fd, most) = (self.sockets[place], self.one_of(rooms));
        match self.below(3) {
            0 => {
                let answer = calls::receive(fd, most, libc::MSG_PEEK);
                self.note("peek", place, told(answer));
            }
            1 => self.take(place, most, |most| calls::receive(fd, most, 0)),
            _ => self.take(place, most, |most| calls::read(fd, most)),
        }
    }

    /// The call may be short under a seed. Then the kernel gets as much room as the call got bytes, and
    /// makes the edges of bytes that have just arrived.
    fn take(&mut self, place: usize, most: usize, receive: impl Fn(usize) -> Answer<Vec<u8>>) {
        let fd = self.sockets[place];
        let there = calls::available(fd).map_or(0, |count| count as usize).min(most);
        let short = self.seeded.get(self.lines.len() + 1).and_then(|line| line.strip_prefix("short "));
        let answer = receive(short.map_or(most, |count| count.parse().unwrap()));
        let count = answer.as_ref().map_or(0, Vec::len);
        let is_stream = calls::option(fd, libc::SO_TYPE) == Ok(libc::SOCK_STREAM);
        self.note("receive", place, told(answer));
        if is_stream && 0 < count && count < there {
            self.lines.push(format!("short {count}"));
            if short.is_some() {
                self.make_edges(fd);
            }
        }
    }

    fn make_edges(&mut self, fd: RawFd) {
        const INPUT: u32 = (libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDNORM | libc::EPOLLRDBAND) as u32;
        let inode = calls::inode(fd);
        for (&other, &(events, data)) in &self.entries {
            let is_on = events & libc::EPOLLONESHOT as u32 == 0 && events & INPUT != 0;
            if is_on && self.sockets.contains(&other) && calls::inode(other) == inode {
                calls::control(self.epoll, libc::EPOLL_CTL_MOD, other, events, data).unwrap();
            }
        }
    }

    pub(super) fn shutdown(&mut self, place: usize) {
        let how = self.one_of(&[libc::SHUT_RD, libc::SHUT_WR, libc::SHUT_RDWR, libc::SHUT_WR]);
        let answer = calls::shutdown(self.sockets[place], how);
        self.note(&format!("shutdown {how}"), place, answer);
    }

    pub(super) fn close(&mut self, place: usize) {
        let fd = self.sockets.remove(place);
        self.entries.remove(&fd);
        let answer = calls::close(fd);
        self.note("close", place, answer);
    }

    pub(super) fn error(&mut self, place: usize) {
        let fd = self.sockets[place];
        let answer = (calls::option(fd, libc::SO_ERROR), calls::option(fd, libc::SO_ACCEPTCONN));
        self.note("error", place, answer);
    }

    pub(super) fn available(&mut self, place: usize) {
        self.note("available", place, calls::available(self.sockets[place]));
    }

    pub(super) fn poll(&mut self, place: usize) {
        self.note("poll", place, calls::poll(self.sockets[place]));
    }

    pub(super) fn events(&mut self) {
        let events = calls::events(self.epoll);
        self.note("events", 0, events);
    }

    pub(super) fn dup(&mut self, place: usize) {
        if self.has_room_for(2) {
            self.sockets.push(calls::dup(self.sockets[place], self.least));
            self.note("dup", place, ());
        }
    }

    pub(super) fn control(&mut self, place: usize) {
        let operation =
            self.one_of(&[libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_MOD, libc::EPOLL_CTL_DEL]);
        self.control_by(operation, place);
    }

    fn control_by(&mut self, operation: i32, place: usize) {
        let mode = self.one_of(&[0, libc::EPOLLET, libc::EPOLLET, libc::EPOLLONESHOT]);
        let all = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP;
        let events = (mode | self.one_of(&[libc::EPOLLIN, libc::EPOLLOUT, all])) as u32;
        let fd = self.sockets[place];
        let answer = calls::control(self.epoll, operation, fd, events, place as u64);
        self.note(&format!("control {operation} {events:x}"), place, answer);
        match (answer, operation) {
            (Ok(_), libc::EPOLL_CTL_DEL) => drop(self.entries.remove(&fd)),
            (Ok(_), _) => drop(self.entries.insert(fd, (events, place as u64))),
            (Err(_), _) => {}
        }
    }

    /// Two descriptors of a socket in the epoll, whose order is that of the kernel.
    pub(super) fn twins(&mut self, place: usize) {
        if self.has_room_for(2) {
            self.dup(place);
            self.control_by(libc::EPOLL_CTL_ADD, place);
            self.control_by(libc::EPOLL_CTL_ADD, self.sockets.len() - 1);
            self.events();
        }
    }
}

fn told(answer: Answer<Vec<u8>>) -> Answer<String> {
    answer.map(|bytes| tell(&bytes))
}

pub(super) fn tell(bytes: &[u8]) -> String {
    if bytes.len() <= MOST_TOLD {
        return format!("{bytes:?}");
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{} bytes, {:x}", bytes.len(), hasher.finish())
}
