//! Unix sockets of all kinds.

use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::{env, fs, process};

use super::super::calls::unix::{self, Beside};
use super::super::calls::{self, Answer};
use super::sequence::{MOST_SENT, Sequence, tell};

const LENGTH: usize = 60;
const COPIES: [RawFd; 2] = [600, 700];
const KINDS: [i32; 4] = [libc::SOCK_STREAM, libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET];
/// A path without an end.
const LONGEST: usize = 108;
/// The last one is more than a socket takes.
const COUNTS: [usize; 7] = [0, 1, 5, 100, 100, 60_000, MOST_SENT];
const ROOMS: [usize; 5] = [0, 1, 7, 200, 400_000];

pub(super) fn perform(number: u64, _: &[String]) -> Vec<String> {
    Unix::new(number, &[], false).perform()
}

/// Without what makes the kernel's own reads short.
pub(super) fn perform_with_short_reads(number: u64, seeded: &[String]) -> Vec<String> {
    Unix::new(number, seeded, true).perform()
}

struct Unix<'a> {
    sequence: Sequence<'a>,
    /// For paths, and what names in the abstract namespace begin with.
    folder: PathBuf,
    is_short: bool,
}

impl Unix<'_> {
    fn new(number: u64, seeded: &[String], is_short: bool) -> Unix<'_> {
        let folder = env::temp_dir().join(format!("gmp-{}-{}", process::id(), u8::from(is_short)));
        fs::create_dir_all(&folder).unwrap();
        Unix { sequence: Sequence::new(number, COPIES[usize::from(is_short)], seeded), folder, is_short }
    }

    fn perform(mut self) -> Vec<String> {
        if self.is_short {
            self.sequence.sockets.extend(unix::pair(libc::SOCK_STREAM));
            self.sequence.twins(0);
        }
        for _ in 0..LENGTH {
            self.step();
        }
        fs::remove_dir_all(&self.folder).unwrap();
        self.sequence.end()
    }

    fn step(&mut self) {
        if self.sequence.opens() {
            return self.open();
        }
        let place = self.sequence.below(self.sequence.sockets.len());
        match self.sequence.below(42) {
            0 | 1 => self.pair(),
            2 => self.connected(),
            3 | 4 => self.bind(place),
            5 => self.listen(place),
            6 | 7 => self.connect(place),
            8 | 9 => self.accept(place),
            10..=13 => self.sequence.send(place, &COUNTS),
            14..=18 => self.sequence.receive(place, &ROOMS),
            19 => self.sequence.shutdown(place),
            20 | 21 => self.sequence.close(place),
            22 => self.names(place),
            23 => self.sequence.error(place),
            24 => self.sequence.available(place),
            25 | 26 => self.sequence.poll(place),
            27 | 28 => self.sequence.control(place),
            29..=31 => self.sequence.events(),
            32 => self.sequence.dup(place),
            33 => self.sequence.twins(place),
            34 | 35 => self.send_to(place),
            36 => self.receive_from(place),
            37 => self.credentials(place),
            38 => self.unlink(),
            39 if !self.is_short => self.pass(place),
            40 if !self.is_short => self.receive_beside(place),
            41 if self.sequence.below(4) == 0 => self.patiently(place),
            _ => self.disconnect(place),
        }
    }

    fn open(&mut self) {
        let kind = self.sequence.one_of(&KINDS);
        self.sequence.sockets.push(unix::socket(kind));
        self.sequence.note("socket", self.sequence.sockets.len() - 1, kind);
    }

    fn pair(&mut self) {
        if self.sequence.has_room_for(2) {
            let kind = self.sequence.one_of(&KINDS);
            self.sequence.sockets.extend(unix::pair(kind));
            self.sequence.note("pair", self.sequence.sockets.len() - 2, kind);
        }
    }

    /// A connection through a listener, as most programs have one.
    fn connected(&mut self) {
        if self.sequence.has_room_for(2) {
            let [listener, client] = [(); 2].map(|()| unix::socket(libc::SOCK_STREAM));
            unix::bind(listener, &[]).unwrap();
            calls::listen(listener, 2).unwrap();
            unix::connect(client, &unix::local_name(listener).unwrap()).unwrap();
            self.sequence.sockets.extend([listener, client, unix::accept(listener).unwrap().0]);
            self.sequence.note("connected", self.sequence.sockets.len() - 3, ());
        }
    }

    /// A path, an abstract name, or none, and how it is told. Few, so that calls meet.
    fn address(&mut self) -> (Vec<u8>, String) {
        let number = self.sequence.below(3);
        let mut path = self.folder.join(number.to_string()).into_os_string().into_encoded_bytes();
        match self.sequence.below(8) {
            0..=2 => (path, format!("path {number}")),
            3..=5 => ([&[0], &path[..]].concat(), format!("name {number}")),
            6 => (Vec::new(), "nothing".to_owned()),
            _ => {
                path.push(b'/');
                path.resize(LONGEST, b'x');
                (path, "a folder that is none".to_owned())
            }
        }
    }

    fn bind(&mut self, place: usize) {
        let (address, told) = self.address();
        let answer = unix::bind(self.sequence.sockets[place], &address);
        self.sequence.note(&format!("bind {told}"), place, answer);
    }

    fn listen(&mut self, place: usize) {
        let backlog = self.sequence.below(3) as i32;
        let answer = calls::listen(self.sequence.sockets[place], backlog);
        self.sequence.note(&format!("listen {backlog}"), place, answer);
    }

    fn connect(&mut self, place: usize) {
        let (address, told) = self.address();
        let answer = unix::connect(self.sequence.sockets[place], &address);
        self.sequence.note(&format!("connect {told}"), place, answer);
    }

    fn disconnect(&mut self, place: usize) {
        let answer = calls::disconnect(self.sequence.sockets[place]);
        self.sequence.note("disconnect", place, answer);
    }

    fn accept(&mut self, place: usize) {
        if self.sequence.has_room_for(1) {
            let answer = unix::accept(self.sequence.sockets[place]);
            let name = answer.map(|(fd, name)| {
                self.sequence.sockets.push(fd);
                self.tell_name(&name)
            });
            self.sequence.note("accept", place, name);
        }
    }

    fn names(&mut self, place: usize) {
        let fd = self.sequence.sockets[place];
        let names = [unix::local_name(fd), unix::peer_name(fd)].map(|name| name.map(|name| self.tell_name(&name)));
        self.sequence.note("names", place, names);
    }

    /// Names that the kernel has chosen differ.
    fn tell_name(&self, name: &[u8]) -> String {
        let name = String::from_utf8_lossy(name);
        let folder = self.folder.to_str().expect("a path of UTF-8");
        if name.starts_with('\0') && name.len() == 6 { "chosen".to_owned() } else { name.replace(folder, "") }
    }

    fn send_to(&mut self, place: usize) {
        let (address, told) = self.address();
        let count = self.sequence.one_of(&COUNTS);
        let bytes = self.sequence.bytes(count);
        let answer = unix::send_to(self.sequence.sockets[place], bytes, &address);
        self.sequence.note(&format!("send to {told}"), place, answer);
    }

    fn receive_from(&mut self, place: usize) {
        let fd = self.sequence.sockets[place];
        // A stream reads on there as elsewhere.
        if unix::is_stream(fd) {
            return;
        }
        let most = self.sequence.one_of(&ROOMS);
        let answer = unix::receive_from(fd, most);
        let answer = answer.map(|(count, bytes, name)| (count, tell(&bytes), self.tell_name(&name)));
        self.sequence.note("receive from", place, answer);
    }

    fn credentials(&mut self, place: usize) {
        let fd = self.sequence.sockets[place];
        let answer = unix::credentials(fd).map(tell_credentials);
        self.sequence.note("credentials", place, answer);
        if !self.is_short {
            let value = self.sequence.below(2) as i32;
            let answer = calls::set_option(fd, libc::SO_PASSCRED, &value);
            self.sequence.note(&format!("passes {value}"), place, answer);
        }
    }

    fn unlink(&mut self) {
        let number = self.sequence.below(3);
        let answer = fs::remove_file(self.folder.join(number.to_string())).map_err(|error| error.kind());
        self.sequence.note("unlink", number, answer);
    }

    /// A descriptor goes with a byte.
    fn pass(&mut self, place: usize) {
        let passed = fs::File::open("/dev/null").unwrap();
        let answer = unix::pass(self.sequence.sockets[place], passed.as_raw_fd());
        self.sequence.note("pass", place, answer);
    }

    fn receive_beside(&mut self, place: usize) {
        let most = self.sequence.one_of(&ROOMS);
        let answer = unix::receive_beside(self.sequence.sockets[place], most);
        let answer = answer.map(|(bytes, flags, beside)| {
            let beside: Vec<_> = beside.into_iter().map(tell_beside).collect();
            (tell(&bytes), flags, beside)
        });
        self.sequence.note("receive beside", place, answer);
    }

    /// A call that waits, but not for ever.
    fn patiently(&mut self, place: usize) {
        let fd = self.sequence.sockets[place];
        let limit = libc::timeval { tv_sec: 0, tv_usec: 1 };
        for name in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
            calls::set_option(fd, name, &limit).unwrap();
        }
        calls::set_blocking(fd, true);
        self.sequence.note("patiently", place, ());
        match self.sequence.below(6) {
            0 => self.accept(place),
            1 => self.connect(place),
            2 => self.send_to(place),
            3 => self.sequence.send(place, &COUNTS),
            4 => self.receive_from(place),
            _ => self.sequence.receive(place, &ROOMS),
        }
        if self.sequence.sockets.contains(&fd) {
            calls::set_blocking(fd, false);
        }
    }
}

fn tell_credentials(found: libc::ucred) -> (&'static str, u32, u32) {
    let whose = match found.pid {
        0 => "nobody",
        pid if u32::try_from(pid) == Ok(process::id()) => "this process",
        _ => "another process",
    };
    (whose, found.uid, found.gid)
}

fn tell_beside(beside: Beside) -> String {
    match beside {
        Beside::Descriptor(fd) => tell_descriptor(fd),
        Beside::Credentials(credentials) => format!("{:?}", tell_credentials(credentials)),
    }
}

fn tell_descriptor(fd: RawFd) -> String {
    let null = fs::File::open("/dev/null").unwrap();
    let is_null = calls::inode(fd) == calls::inode(null.as_raw_fd());
    let closed: Answer<isize> = calls::close(fd);
    format!("a descriptor {is_null} {closed:?}")
}
