//! std's TCP in threads of its own: calls that wait, and what they wait for.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use super::calls;
use crate::child::{Run, run_with};

/// More than both buffers of a connection hold.
const MANY: usize = 1 << 20;
const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn scenario() {
    both_directions_at_once();
    a_full_connection_is_writable_again_when_its_peer_reads();
    waits_have_limits();
    a_full_queue_delays_connections();
    a_closed_listener_resets_its_queue();
    two_connections_have_different_names();
    each_family_reaches_its_listeners();
    options_are_kept_and_inherited();
    files_are_copied_into_connections();
    other_computers_are_named();
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("localhost:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

fn both_directions_at_once() {
    let (one, other) = pair();
    let sides = [one, other].map(|stream| {
        let mut writer = stream.try_clone().unwrap();
        let writing = thread::spawn(move || {
            let bytes: Vec<u8> = (0..MANY).map(|i| (i / 7) as u8).collect();
            writer.write_all(&bytes).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        (writing, thread::spawn(move || all(stream)))
    });
    for (writing, reading) in sides {
        writing.join().unwrap();
        let bytes = reading.join().unwrap();
        assert_eq!(bytes.len(), MANY);
        assert!(bytes.iter().enumerate().all(|(i, byte)| *byte == (i / 7) as u8), "in order");
    }
}

fn all(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

fn a_full_connection_is_writable_again_when_its_peer_reads() {
    let (mut writer, mut reader) = pair();
    writer.set_nonblocking(true).unwrap();
    let epoll = calls::epoll();
    let events = (libc::EPOLLOUT | libc::EPOLLET) as u32;
    calls::control(epoll, libc::EPOLL_CTL_ADD, writer.as_raw_fd(), events, 7).unwrap();
    assert_eq!(calls::events(epoll), [(7, libc::EPOLLOUT as u32)]);
    let mut sent = 0;
    let error = loop {
        match writer.write(&[1; 10_000]) {
            Ok(count) => sent += count,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert_eq!(calls::poll(writer.as_raw_fd()) & libc::POLLOUT, 0);
    let full = calls::events(epoll);
    assert!(full.iter().all(|(_, ready)| ready & libc::EPOLLOUT as u32 == 0), "{full:?}");
    reader.read_exact(&mut vec![0; sent / 2]).unwrap();
    assert_eq!(calls::events(epoll), [(7, libc::EPOLLOUT as u32)], "an edge");
    assert_eq!(calls::events(epoll), []);
    drop(writer);
    assert_eq!(all(reader).len(), sent - sent / 2);
    calls::close(epoll).unwrap();
}

fn waits_have_limits() {
    let (mut one, _other) = pair();
    one.set_read_timeout(Some(HOUR)).unwrap();
    let begun = Instant::now();
    assert_eq!(one.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(begun.elapsed() >= HOUR);
    one.set_write_timeout(Some(HOUR)).unwrap();
    assert_eq!(one.write_all(&vec![0; MANY]).unwrap_err().kind(), ErrorKind::WouldBlock);
    let port = one.local_addr().unwrap().port();
    assert_eq!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

fn a_full_queue_delays_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    calls::listen(listener.as_raw_fd(), 0).unwrap();
    let address = listener.local_addr().unwrap();
    let _first = TcpStream::connect(address).unwrap();
    let error = TcpStream::connect_timeout(&address, Duration::from_millis(500)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let late = thread::spawn(move || TcpStream::connect(address).unwrap());
    // Virtual time: the connection was asked for at 0 and 1 s, and is asked for again at 3 s.
    thread::sleep(Duration::from_secs(2));
    let _first = listener.accept().unwrap();
    let (second, client) = (listener.accept().unwrap(), late.join().unwrap());
    assert_eq!(second.1, client.local_addr().unwrap());
    drop(second);
    let begun = Instant::now();
    let waiting: Vec<_> = (0..2).map(|_| thread::spawn(move || TcpStream::connect(address))).collect();
    let results: Vec<_> = waiting.into_iter().map(|waiting| waiting.join().unwrap()).collect();
    let errors: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).map(|error| error.kind()).collect();
    assert_eq!(errors, [ErrorKind::TimedOut], "one is in the queue, and nobody takes it");
    assert!(begun.elapsed() > Duration::from_secs(60));
}

fn a_closed_listener_resets_its_queue() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // The third packet of the handshake has arrived.
    while calls::poll(listener.as_raw_fd()) == 0 {
        // Virtual: time goes on only while a thread sleeps or looks at a clock.
        thread::sleep(Duration::from_millis(1));
    }
    drop(listener);
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

fn each_family_reaches_its_listeners() {
    let v6 = TcpListener::bind("[::]:0").unwrap();
    let port = v6.local_addr().unwrap().port();
    for ip in [Ipv4Addr::LOCALHOST.into(), Ipv4Addr::new(127, 3, 2, 1).into(), Ipv6Addr::LOCALHOST.into()] {
        let client = TcpStream::connect(SocketAddr::new(ip, port)).unwrap();
        let (server, peer) = v6.accept().unwrap();
        assert_eq!(server.local_addr().unwrap().ip().to_canonical(), ip);
        assert_eq!(peer.port(), client.local_addr().unwrap().port());
        assert_eq!(client.peer_addr().unwrap(), SocketAddr::new(ip, port));
    }
    assert_eq!(TcpListener::bind(("0.0.0.0", port)).unwrap_err().kind(), ErrorKind::AddrInUse);
}

fn options_are_kept_and_inherited() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    calls::set_option(listener.as_raw_fd(), libc::SO_KEEPALIVE, &1).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    client.set_ttl(7).unwrap();
    assert_eq!((client.nodelay().unwrap(), client.ttl().unwrap()), (true, 7));
    let server = listener.accept().unwrap().0;
    assert_eq!(calls::option(server.as_raw_fd(), libc::SO_KEEPALIVE), Ok(1));
}

fn files_are_copied_into_connections() {
    let (mut one, other) = pair();
    let mut file = std::fs::File::open("/proc/self/maps").unwrap();
    let copied = std::io::copy(&mut file, &mut one).unwrap();
    drop(one);
    let (mut onward, end) = pair();
    assert_eq!(std::io::copy(&mut &other, &mut onward).unwrap(), copied);
    drop(onward);
    assert_eq!(all(end).len() as u64, copied);
}

/// The same on the kernel's sockets.
fn two_connections_have_different_names() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let [one, other] = [(); 2].map(|()| calls::socket(false, false));
    [one, other].iter().for_each(|fd| calls::switch_on(*fd, libc::SOL_SOCKET, libc::SO_REUSEADDR));
    calls::bind(one, "127.0.0.1:0".parse().unwrap()).unwrap();
    calls::bind(other, calls::local_name(one).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let answers = [one, other].map(|fd| calls::connect(fd, address));
    assert_eq!(answers, [Err(libc::EINPROGRESS), Err(libc::EADDRNOTAVAIL)]);
    [one, other].iter().for_each(|fd| assert_eq!(calls::close(*fd), Ok(0)));
}

fn other_computers_are_named() {
    let error = TcpStream::connect("192.0.2.1:80").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
    assert_eq!(TcpListener::bind("192.0.2.1:80").unwrap_err().kind(), ErrorKind::AddrNotAvailable);
}

/// A socket that connects to another computer is the kernel's from then on, also for its epoll.
pub(crate) fn leaves() {
    let (epoll, fd) = (calls::epoll(), calls::socket(false, false));
    let add = || calls::control(epoll, libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN as u32, 0);
    assert_eq!(add(), Ok(0));
    // What the kernel answers depends on the computer.
    let _ = calls::connect(fd, "192.0.2.1:80".parse().unwrap());
    assert_eq!(add(), Err(libc::EEXIST));
}

pub(super) fn assert_ok(run: &Run, weather: &str, seed: u64) {
    assert_eq!(
        (run.field("end"), run.field("outside"), run.status),
        ("ok", "[]", Some(0)),
        "{weather}, {seed}: {}",
        run.stderr
    );
}

#[test]
fn stds_connections_work_in_each_weather() {
    two_connections_have_different_names();
    for weather in ["calm", "", "short=50%,full=50%,delay=1..20ms", "loss=20%"] {
        for seed in 0..6 {
            let run = run_with("streams", seed, &[("GMP_SEED_NET", weather)]);
            assert_ok(&run, weather, seed);
            let named = run.stderr.matches("192.0.2.1:80 is not on the simulated network; GMP_SEED_NET=real").count();
            assert_eq!(named, 1, "{}", run.stderr);
        }
        let runs = [0, 1].map(|_| run_with("streams", 3, &[("GMP_SEED_NET", weather)]));
        assert_eq!(runs[0].report, runs[1].report, "{weather}");
    }
}

/// Prints how long a megabyte takes, of TCP and in datagrams.
pub(crate) fn a_megabyte() {
    const LENGTH: usize = 1_000_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let since = Instant::now();
    let sender = thread::spawn(move || TcpStream::connect(address).unwrap().write_all(&[0; LENGTH]).unwrap());
    let length = io::copy(&mut listener.accept().unwrap().0, &mut io::sink()).unwrap();
    sender.join().unwrap();
    let stream = since.elapsed();
    let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    let since = Instant::now();
    for _ in 0..LENGTH / 10_000 {
        other.send_to(&[0; 10_000], one.local_addr().unwrap()).unwrap();
        one.recv(&mut [0; 10_000]).unwrap();
    }
    println!("took: {} {} of {length} end", stream.as_millis(), since.elapsed().as_millis());
}

#[test]
fn a_socket_sends_no_faster_than_its_rate() {
    for (weather, expected) in [("calm", 0), ("calm,rate=1MB/s", 1_000), ("calm,rate=50kB/s", 20_000)] {
        let run = run_with("a_megabyte", 1, &[("GMP_SEED_NET", weather)]);
        assert_ok(&run, weather, 1);
        let told = run.stdout.split_once("took: ").expect("the run prints").1.split_once(" of 1000000 end").unwrap().0;
        let times: Vec<u64> = told.split(' ').map(|time| time.parse().unwrap()).collect();
        // A thread may begin to run a little late.
        assert!(times.iter().all(|time| (expected..expected + 100).contains(time)), "{weather}: {told} ms");
    }
}

#[test]
fn real_connections_are_allowed_on_request() {
    let run = run_with("leaves", 0, &[("GMP_SEED_NET", "real")]);
    let outside = "[\"connect 192.0.2.1:80\"]";
    assert_eq!((run.field("outside"), run.stderr.contains("192.0.2.1")), (outside, false), "{}", run.stderr);
    let run = run_with("leaves", 0, &[]);
    assert_eq!((run.field("outside"), run.status), ("[]", Some(0)), "{}", run.stderr);
    assert!(run.stderr.contains("192.0.2.1:80 is not on the simulated network"), "{}", run.stderr);
}

#[test]
fn bad_weather_is_refused() {
    let run = run_with("streams", 0, &[("GMP_SEED_NET", "delay=fast")]);
    assert_eq!(run.status, Some(101));
    assert!(
        run.stderr.contains("GMP_SEED_NET: \"delay=fast\" is none of kernel, real, calm, delay="),
        "{}",
        run.stderr
    );
}
