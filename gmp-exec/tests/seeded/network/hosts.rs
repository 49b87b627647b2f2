//! Hosts of the program's: threads of std's, with the calls that gmp-sim makes.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::calls;
use super::calls::sim::{ADDRESS, CHOOSE, CLOCK, CUT, ENTER, HELD, OPEN, OPEN_WAY, POWER, WAY, call};
use super::streams::assert_ok;
use crate::child::run_with;

pub(crate) fn scenario() {
    each_host_has_its_own_ports();
    a_cut_loses_datagrams_and_delays_bytes();
    a_datagram_for_all_reaches_other_hosts();
    what_is_held_comes_in_its_order();
    a_connection_does_not_wait_for_ever();
    a_host_that_crashes_says_nothing();
    the_last_close_finds_no_peer();
    each_host_has_its_own_date();
    wrong_numbers_are_refused();
}

fn host(name: &str) -> usize {
    call(OPEN, name.as_ptr() as usize, name.len(), 0).unwrap()
}

fn ip(host: usize) -> IpAddr {
    Ipv4Addr::from(call(ADDRESS, host, 0, 0).unwrap() as u32).into()
}

/// What that does on a thread of the host's.
fn on<R: Send + 'static>(host: usize, body: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = thread::spawn(move || {
        call(ENTER, host, 0, 0).unwrap();
        body()
    });
    thread.join().unwrap()
}

fn set_way(a: usize, b: usize, way: usize) {
    call(WAY, a, b, way).unwrap();
    call(WAY, b, a, way).unwrap();
}

/// A connection from one to the other, without packets under way.
fn connect(from: usize, to: usize) -> (TcpStream, TcpStream) {
    let listener = on(to, || TcpListener::bind("0.0.0.0:0").unwrap());
    let address = (ip(to), listener.local_addr().unwrap().port());
    let mut client = on(from, move || TcpStream::connect(address).unwrap());
    let mut server = listener.accept().unwrap().0;
    client.write_all(b"!").unwrap();
    server.read_exact(&mut [0]).unwrap();
    (client, server)
}

fn each_host_has_its_own_ports() {
    let [a, b, c] = ["a", "b", "c"].map(host);
    let listeners = [a, b].map(|host| on(host, || TcpListener::bind("0.0.0.0:80").unwrap()));
    for (host, listener) in [a, b].into_iter().zip(&listeners) {
        let client = on(c, move || TcpStream::connect((ip(host), 80)).unwrap());
        let (accepted, peer) = listener.accept().unwrap();
        assert_eq!((peer.ip(), peer), (ip(c), client.local_addr().unwrap()));
        assert_eq!(accepted.local_addr().unwrap().ip(), ip(host));
    }
    on(c, || TcpStream::connect("A:80").unwrap());
    assert_eq!(listeners[0].accept().unwrap().1.ip(), ip(c));
    on(a, || TcpStream::connect("127.0.0.1:80").unwrap());
    assert_eq!(listeners[0].accept().unwrap().1.ip(), Ipv4Addr::LOCALHOST);
    let refused = on(c, || TcpStream::connect("127.0.0.1:80").unwrap_err());
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    let foreign = on(c, move || TcpListener::bind((ip(a), 81)).unwrap_err());
    assert_eq!(foreign.kind(), ErrorKind::AddrNotAvailable);
    // The program itself is a host, too, and is asked from its own address.
    let ours = TcpStream::connect((ip(b), 80)).unwrap();
    assert_eq!((listeners[1].accept().unwrap().1.ip(), ours.local_addr().unwrap().ip()), (ip(0), ip(0)));
}

fn a_cut_loses_datagrams_and_delays_bytes() {
    let [a, b] = ["a", "b"].map(host);
    let (mut client, mut server) = connect(a, b);
    let [from, to] = [a, b].map(|host| on(host, || UdpSocket::bind("0.0.0.0:7").unwrap()));
    let limit = Some(Duration::from_secs(10));
    server.set_read_timeout(limit).unwrap();
    to.set_read_timeout(limit).unwrap();
    call(WAY, a, b, CUT).unwrap();
    client.write_all(b"late").unwrap();
    from.send_to(b"lost", (ip(b), 7)).unwrap();
    assert_eq!(server.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(to.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    // The other direction is open.
    server.write_all(b"back").unwrap();
    client.read_exact(&mut [0; 4]).unwrap();
    let healed = Instant::now();
    call(WAY, a, b, OPEN_WAY).unwrap();
    from.send_to(b"soon", (ip(b), 7)).unwrap();
    client.write_all(b"r").unwrap();
    let (mut bytes, mut datagram) = ([0; 5], [0; 9]);
    server.set_read_timeout(None).unwrap();
    server.read_exact(&mut bytes).unwrap();
    // TCP has doubled its intervals meanwhile.
    assert!((1..20).contains(&healed.elapsed().as_secs()), "{:?}", healed.elapsed());
    assert_eq!((&bytes, to.recv(&mut datagram).unwrap(), &datagram[..4]), (b"later", 4, &b"soon"[..]));
}

fn a_datagram_for_all_reaches_other_hosts() {
    let [a, b, c] = ["a", "b", "c"].map(host);
    let [from, other, cut] = [a, b, c].map(|host| on(host, || UdpSocket::bind("0.0.0.0:7").unwrap()));
    from.set_broadcast(true).unwrap();
    call(WAY, a, c, CUT).unwrap();
    for all in ["255.255.255.255:7", "127.255.255.255:7"] {
        from.send_to(b"!", all).unwrap();
        // The sender is one of all.
        for receiver in [&from, &other] {
            let sender = receiver.recv_from(&mut [0]).unwrap().1;
            assert_eq!(sender, (ip(a), 7).into());
            receiver.send_to(b"?", sender).unwrap();
            from.recv(&mut [0]).unwrap();
        }
    }
    cut.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert_eq!(cut.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

fn what_is_held_comes_in_its_order() {
    let [a, b] = ["a", "b"].map(host);
    let [from, to] = [a, b].map(|host| on(host, || UdpSocket::bind("0.0.0.0:7").unwrap()));
    set_way(a, b, HELD);
    (0..9).for_each(|i| assert_eq!(from.send_to(&[i], (ip(b), 7)).unwrap(), 1));
    let now = Instant::now();
    set_way(a, b, OPEN_WAY);
    let received = [0; 9].map(|_: u8| {
        let mut byte = [0];
        to.recv(&mut byte).unwrap();
        byte[0]
    });
    assert_eq!(received, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(now.elapsed() < Duration::from_millis(50), "{:?}", now.elapsed());
}

fn a_connection_does_not_wait_for_ever() {
    let [a, b] = ["a", "b"].map(host);
    let (mut client, mut server) = connect(a, b);
    set_way(a, b, CUT);
    let begin = Instant::now();
    let error = on(a, move || TcpStream::connect((ip(b), 80)).unwrap_err());
    assert_eq!((error.kind(), begin.elapsed().as_secs()), (ErrorKind::TimedOut, 127));
    client.write_all(b"?").unwrap();
    let begin = Instant::now();
    let error = client.read(&mut [0]).unwrap_err();
    assert_eq!((error.kind(), begin.elapsed().as_secs()), (ErrorKind::TimedOut, 924));
    set_way(a, b, OPEN_WAY);
    // The client knows no such connection any more.
    server.write_all(b"!").unwrap();
    assert_eq!(server.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

fn a_host_that_crashes_says_nothing() {
    let [a, b] = ["a", "b"].map(host);
    let (mut client, server) = connect(a, b);
    let (mut waiting, unread) = connect(a, b);
    waiting.write_all(b"unread").unwrap();
    // Until it has arrived.
    unread.peek(&mut [0]).unwrap();
    let listener = on(b, || TcpListener::bind("0.0.0.0:80").unwrap());
    let queued = on(a, move || TcpStream::connect((ip(b), 80)).unwrap());
    wait_for_a_connection(&listener);
    call(POWER, b, 0, 0).unwrap();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "it was lost with its host");
    drop((server, unread, listener));
    let limit = Some(Duration::from_secs(10));
    client.set_read_timeout(limit).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    client.write_all(b"?").unwrap();
    waiting.write_all(b"?").unwrap();
    (&queued).write_all(b"?").unwrap();
    call(POWER, b, 1, 0).unwrap();
    for mut client in [client, waiting, queued] {
        client.set_read_timeout(None).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    connect(a, b);
}

fn wait_for_a_connection(listener: &TcpListener) {
    while calls::poll(listener.as_raw_fd()) & libc::POLLIN == 0 {
        thread::yield_now();
    }
}

/// The answer to its `Fin` may come inside the call.
fn the_last_close_finds_no_peer() {
    let [a, b] = ["a", "b"].map(host);
    let (client, mut server) = connect(a, b);
    drop(client);
    assert_eq!(server.read(&mut [0]).unwrap(), 0);
    call(POWER, a, 0, 0).unwrap();
    call(POWER, a, 1, 0).unwrap();
    drop(server);
}

fn each_host_has_its_own_date() {
    let [a, b] = ["a", "b"].map(host);
    call(CLOCK, a, 3_600_000_000_000, 0).unwrap();
    call(CLOCK, b, -1_500_000_000_isize as usize, 0).unwrap();
    let [a, b] = [a, b].map(|host| on(host, || (Instant::now(), SystemTime::now())));
    let (ours, now) = (SystemTime::now(), Instant::now());
    let ahead = a.1.duration_since(ours).unwrap();
    let behind = ours.duration_since(b.1).unwrap();
    assert!((3_599..3_601).contains(&ahead.as_secs()) && (1..3).contains(&behind.as_secs()), "{ahead:?} {behind:?}");
    assert!(a.0 <= b.0 && b.0 <= now, "one time for all");
}

fn wrong_numbers_are_refused() {
    for (what, a, b, c) in [(ENTER, 99, 0, 0), (WAY, 0, 99, 0), (WAY, 0, 0, 3), (POWER, 99, 0, 0), (99, 0, 0, 0)] {
        assert_eq!(call(what, a, b, c), Err(libc::EINVAL), "{what} {a} {b} {c}");
    }
}

#[test]
fn hosts_are_apart() {
    assert_ok(&run_with("hosts", 0, &[("GMP_SEED_NET", "calm")]), "calm", 0);
    for seed in 0..20 {
        let runs = [0, 1].map(|_| run_with("hosts", seed, &[]));
        assert_ok(&runs[0], "hosts", seed);
        assert_eq!(runs[0].report, runs[1].report, "seed {seed}");
    }
}

pub(crate) fn inert() {
    assert_eq!(call(OPEN, 0, 0, 0), Err(libc::ENOSYS));
}

#[test]
fn there_are_no_hosts_in_the_kernels_network() {
    assert_ok(&run_with("no_hosts", 0, &[("GMP_SEED_NET", "kernel")]), "no_hosts", 0);
    inert();
}

/// Fails for one of ten.
pub(crate) fn choice() {
    assert_ne!(call(CHOOSE, 10, 0, 0), Ok(7));
}

#[test]
fn a_choice_is_replayed() {
    let mut runs = (0..100).map(|seed| (seed, run_with("choice", seed, &[])));
    let (seed, found) = runs.find(|(_, run)| run.status != Some(0)).expect("one of ten fails");
    assert!(found.log.contains("7 of 10 Program"), "{}", found.log);
    let again = crate::child::replay("choice", seed, &found.log);
    assert_eq!((again.status, again.field("hash")), (found.status, found.field("hash")));
    assert_eq!(run_with("choice", seed, &[("GMP_SEED_KINDS", "none")]).status, Some(0));
}
