//! Calls of sockets that std does not make.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use super::calls::masked::{ALL, is_blocked, receive_by_number, send_file, send_messages, timer};
use super::streams::assert_ok;
use crate::child::run_with;

const LIMIT: Duration = Duration::from_millis(20);

fn each_waits_for_input() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut server = listener.accept().unwrap().0;
    for (place, wait) in ALL.into_iter().enumerate() {
        let fd = server.as_raw_fd();
        let since = Instant::now();
        assert_eq!((wait(fd, Some(0)), wait(fd, Some(LIMIT.as_millis() as i64))), (Ok(0), Ok(0)), "{place}");
        assert!(since.elapsed() >= LIMIT, "{place}");
        let mut writer = client.try_clone().unwrap();
        let writing = thread::spawn(move || writer.write_all(b"!").unwrap());
        assert_eq!(wait(fd, None), Ok(1), "{place}");
        assert!(!is_blocked(libc::SIGUSR1), "{place}");
        server.read_exact(&mut [0]).unwrap();
        writing.join().unwrap();
    }
}

fn several_messages_are_sent_by_one_call(by_number: bool) {
    let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    let send = |messages: &[&[u8]]| send_messages(other.as_raw_fd(), messages, by_number);
    assert_eq!(send(&[b"1"]), Err(libc::EDESTADDRREQ));
    other.connect(one.local_addr().unwrap()).unwrap();
    let long = vec![0; 70_000];
    assert_eq!(send(&[b"one", b"", b"other", &long, b"none"]), Ok(vec![3, 0, 5]));
    let receive = |buffer: &mut [u8]| match by_number {
        true => receive_by_number(one.as_raw_fd(), buffer).unwrap() as usize,
        false => one.recv(buffer).unwrap(),
    };
    assert_eq!([(); 3].map(|()| receive(&mut [0; 9])), [3, 0, 5]);
}

pub(crate) fn scenario() {
    each_waits_for_input();
    [false, true].into_iter().for_each(several_messages_are_sent_by_one_call);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let file = File::open(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(send_file(client.as_raw_fd(), file.as_raw_fd(), 10), Err(libc::EINVAL), "the program has to copy");
    assert_eq!(timer(), Err(libc::ENOSYS), "it would go by real time");
}

#[test]
fn calls_that_std_does_not_make_are_simulated() {
    each_waits_for_input();
    [false, true].into_iter().for_each(several_messages_are_sent_by_one_call);
    for weather in ["calm", "", "delay=1..20ms"] {
        (0..6).for_each(|seed| assert_ok(&run_with("masked", seed, &[("GMP_SEED_NET", weather)]), weather, seed));
    }
}
