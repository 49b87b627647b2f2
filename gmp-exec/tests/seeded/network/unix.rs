//! Unix sockets: the kernel's, with short reads, and with waits in virtual time.

use std::io::{ErrorKind, IoSliceMut, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use super::calls;
use super::streams::assert_ok;
use crate::child::run_with;

const LENGTH: usize = 1_000;

/// Each event of an edge is followed by one read, as by a program that takes a short read for the last one.
pub(crate) fn scenario() {
    let mut reads = 0;
    for round in 0..20 {
        let (mut writer, reader) = UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        let mut reader = Reader { epoll: calls::epoll(), copy: reader.try_clone().unwrap(), stream: reader, round };
        let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
        calls::control(reader.epoll, libc::EPOLL_CTL_ADD, reader.stream.as_raw_fd(), events, 7).unwrap();
        writer.write_all(&[1; LENGTH]).unwrap();
        let mut left = LENGTH;
        while left > 0 {
            calls::wait_for_events(reader.epoll);
            assert_eq!(calls::events(reader.epoll), [(7, libc::EPOLLIN as u32)]);
            left -= reader.read();
            reads += 1;
        }
        let events = calls::events(reader.epoll);
        assert_eq!(events, [], "nothing is left");
        calls::close(reader.epoll).unwrap();
    }
    println!("reads: {reads}.");
}

struct Reader {
    epoll: i32,
    stream: UnixStream,
    /// Of the same socket.
    copy: UnixStream,
    round: usize,
}

impl Reader {
    fn read(&mut self) -> usize {
        let mut bytes = [[0; LENGTH], [0; LENGTH]];
        match self.round % 4 {
            0 => self.stream.read(&mut bytes[0]).unwrap(),
            1 => self.copy.read(&mut bytes[0]).unwrap(),
            2 => self.stream.read_vectored(&mut bytes.each_mut().map(|part| IoSliceMut::new(&mut part[..]))).unwrap(),
            _ => calls::receive(self.stream.as_raw_fd(), LENGTH, 0).unwrap().len(),
        }
    }
}

#[test]
fn a_short_read_leaves_an_edge() {
    let reads = |weather, seed| {
        let run = run_with("unix", seed, &[("GMP_SEED_NET", weather)]);
        assert_ok(&run, weather, seed);
        let text = run.stdout.split_once("reads: ").unwrap().1.split_once('.').unwrap().0;
        text.parse::<usize>().unwrap()
    };
    for seed in 0..10 {
        assert!(reads("short=50%", seed) > 20);
        assert_eq!(reads("calm", seed), 20);
    }
    assert_eq!(reads("short=50%", 3), reads("short=50%", 3));
}

const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

/// Calls that wait, in threads.
pub(crate) fn waits() {
    let folder = env::temp_dir().join(format!("gmp-waits-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    waits_have_limits();
    nothing_to_wait_for();
    let listener = UnixListener::bind(folder.join("listener")).unwrap();
    a_full_queue_delays_connections(&listener);
    a_full_receiver_delays_datagrams(&UnixDatagram::bind(folder.join("receiver")).unwrap());
    fs::remove_dir_all(folder).unwrap();
}

fn waits_have_limits() {
    let (mut one, _other) = UnixStream::pair().unwrap();
    one.set_read_timeout(Some(HOUR)).unwrap();
    one.set_write_timeout(Some(HOUR)).unwrap();
    lasts_an_hour(|| one.read(&mut [0]).unwrap_err());
    lasts_an_hour(|| one.write_all(&vec![0; 1 << 20]).unwrap_err());
    let (one, _other) = UnixDatagram::pair().unwrap();
    one.set_read_timeout(Some(HOUR)).unwrap();
    lasts_an_hour(|| one.recv_from(&mut [0]).unwrap_err());
}

fn lasts_an_hour(call: impl FnOnce() -> std::io::Error) {
    let begun = Instant::now();
    assert_eq!(call().kind(), ErrorKind::WouldBlock);
    assert!(begun.elapsed() >= HOUR, "{:?}", begun.elapsed());
}

/// A read of no bytes, and calls that are errors.
fn nothing_to_wait_for() {
    let (mut one, _other) = UnixStream::pair().unwrap();
    assert_eq!(calls::read(one.as_raw_fd(), 0), Ok(Vec::new()));
    assert_eq!(one.read_vectored(&mut [IoSliceMut::new(&mut [])]).unwrap(), 0);
    assert_eq!(calls::unix::accept(one.as_raw_fd()), Err(libc::EINVAL));
}

fn a_full_queue_delays_connections(listener: &UnixListener) {
    calls::listen(listener.as_raw_fd(), 0).unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(calls::receive(listener.as_raw_fd(), 1, 0), Err(libc::EINVAL));
    let _first = UnixStream::connect_addr(&address).unwrap();
    let late = thread::spawn(move || (UnixStream::connect_addr(&address).unwrap(), Instant::now()));
    // Virtual time: so that the thread mostly waits by then. If it comes later, the test holds, too.
    thread::sleep(SECOND);
    let accepted = Instant::now();
    let (_first, _second) = (listener.accept().unwrap(), listener.accept().unwrap());
    let (connected, at) = late.join().unwrap();
    assert!(at >= accepted && calls::is_blocking(connected.as_raw_fd()));
}

/// Of senders that are not connected, no poll tells whether the receiver has room.
fn a_full_receiver_delays_datagrams(receiver: &UnixDatagram) {
    const MANY: u32 = 500;
    let address = receiver.local_addr().unwrap();
    let sender = UnixDatagram::unbound().unwrap();
    sender.set_write_timeout(Some(HOUR)).unwrap();
    let to = address.clone();
    let sending = thread::spawn(move || {
        (0..MANY).for_each(|i| assert_eq!(sender.send_to_addr(&i.to_le_bytes(), &to).unwrap(), 4));
    });
    // As above: so that the receiver is full.
    thread::sleep(SECOND);
    for i in 0..MANY {
        let mut bytes = [0; 4];
        assert_eq!((receiver.recv(&mut bytes).unwrap(), u32::from_le_bytes(bytes)), (4, i));
    }
    sending.join().unwrap();
    let sender = UnixDatagram::unbound().unwrap();
    sender.set_write_timeout(Some(HOUR)).unwrap();
    lasts_an_hour(|| {
        loop {
            if let Err(error) = sender.send_to_addr(&[1], &address) {
                return error;
            }
        }
    });
}

#[test]
fn blocking_calls_wait_without_the_turn() {
    for weather in ["calm", "short=50%"] {
        (0..6).for_each(|seed| assert_ok(&run_with("unix_waits", seed, &[("GMP_SEED_NET", weather)]), weather, seed));
    }
}
