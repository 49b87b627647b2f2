//! Unix sockets: the kernel's, with short reads.

use std::io::{IoSliceMut, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use super::calls;
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
        super::streams::assert_ok(&run, weather, seed);
        let text = run.stdout.split_once("reads: ").unwrap().1.split_once('.').unwrap().0;
        text.parse::<usize>().unwrap()
    };
    for seed in 0..10 {
        assert!(reads("short=50%", seed) > 20);
        assert_eq!(reads("calm", seed), 20);
    }
    assert_eq!(reads("short=50%", 3), reads("short=50%", 3));
}
