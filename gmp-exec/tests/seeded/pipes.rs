//! Threads that wait for each other's bytes, in each way.
#![allow(unsafe_code, reason = "calls `select`")]

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::thread;
use std::time::Duration;

use crate::child::run;

/// More than a pipe or a socket holds.
const MANY: usize = 1 << 20;

pub(crate) fn scenario() {
    let (reader, writer) = pipe();
    all_arrives(reader, writer);
    let (reader, writer) = UnixStream::pair().unwrap();
    all_arrives(reader, writer);
    datagrams_wait_for_room();
    let (reader, writer) = pipe();
    // Virtual time, which goes on when all threads wait.
    let late = thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        (&writer).write_all(b"x").unwrap();
    });
    assert!(select(reader.as_raw_fd(), 3_600), "there is something to read");
    late.join().unwrap();
    assert!(select(reader.as_raw_fd(), 0));
    let (empty, _writer) = pipe();
    assert!(!select(empty.as_raw_fd(), 3_600), "the time is up");
}

fn pipe() -> (File, File) {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    (reader.into(), writer.into())
}

fn all_arrives(mut reader: impl Read + Send + 'static, mut writer: impl Write) {
    let reading = thread::spawn(move || {
        let (mut count, mut buffers) = (0, [[0; 1000], [0; 1000]]);
        loop {
            let [one, other] = &mut buffers;
            match reader.read_vectored(&mut [IoSliceMut::new(one), IoSliceMut::new(other)]).unwrap() {
                0 => return count,
                read => count += read,
            }
        }
    });
    let bytes = vec![0; MANY];
    writer.write_all(&bytes).unwrap();
    let (mut left, nothing) = (&bytes[..], IoSlice::new(&[]));
    while !left.is_empty() {
        let written = writer.write_vectored(&[nothing, IoSlice::new(left)]).unwrap();
        left = &left[written..];
    }
    drop(writer);
    assert_eq!(reading.join().unwrap(), 2 * MANY);
}

fn datagrams_wait_for_room() {
    let (receiver, sender) = UnixDatagram::pair().unwrap();
    let sending = thread::spawn(move || (0..500).for_each(|_| assert_eq!(sender.send(&[0; 100]).unwrap(), 100)));
    for _ in 0..500 {
        assert_eq!(receiver.recv(&mut [0; 200]).unwrap(), 100);
    }
    sending.join().unwrap();
}

/// Whether the descriptor is readable within so many seconds.
fn select(fd: RawFd, seconds: i64) -> bool {
    let mut limit = libc::timeval { tv_sec: seconds, tv_usec: 1 };
    // SAFETY: zeroes are an empty set.
    let mut readable: libc::fd_set = unsafe { mem::zeroed() };
    // SAFETY: the number of the descriptor is a small one.
    unsafe { libc::FD_SET(fd, &raw mut readable) };
    let none = std::ptr::null_mut();
    // SAFETY: all pointers are valid or null.
    unsafe { libc::select(fd + 1, &raw mut readable, none, none, &raw mut limit) == 1 }
}

#[test]
fn threads_that_wait_for_bytes_give_their_turn_away() {
    for seed in 0..10 {
        let run = run("pipes", seed);
        assert_eq!(
            (run.field("end"), run.field("outside"), run.status),
            ("ok", "[]", Some(0)),
            "seed {seed}: {run:#?}"
        );
    }
    assert_eq!(run("pipes", 3).report, run("pipes", 3).report);
}
