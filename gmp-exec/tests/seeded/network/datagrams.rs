//! std's UDP in threads of its own.

use std::io::ErrorKind;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use super::calls;
use super::streams::assert_ok;
use crate::child::run_with;

/// The same on the kernel's sockets.
fn a_message_is_cut_into_segments() {
    let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    other.connect(one.local_addr().unwrap()).unwrap();
    assert_eq!(calls::send_segments(other.as_raw_fd(), &[7; 250], 100), Ok(250));
    let lengths = [(); 3].map(|()| one.recv(&mut [0; 300]).unwrap());
    assert_eq!(lengths, [100, 100, 50]);
}

/// The same on the kernel's sockets.
fn a_receiver_learns_where_a_datagram_was_sent_to() {
    let receiver = UdpSocket::bind("[::]:0").unwrap();
    let (fd, port) = (receiver.as_raw_fd(), receiver.local_addr().unwrap().port());
    let [v4, v6] = ["127.0.0.1:0", "[::1]:0"].map(|address| UdpSocket::bind(address).unwrap());
    let send = || {
        v4.send_to(b"4", ("127.0.0.1", port)).unwrap();
        v6.send_to(b"6", ("::1", port)).unwrap();
        // The datagrams of two senders may overtake each other.
        let mut received = [(); 2].map(|()| calls::receive_control(fd, 128).unwrap());
        received.sort();
        received
    };
    assert_eq!(send(), [(0, Vec::new()), (0, Vec::new())]);
    calls::switch_on(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO);
    calls::switch_on(fd, libc::IPPROTO_IP, libc::IP_PKTINFO);
    let ip = Ipv4Addr::LOCALHOST;
    let of_v6 =
        |ip: Ipv6Addr| (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, [&ip.octets()[..], &1_u32.to_ne_bytes()].concat());
    let of_v4 = (libc::IPPROTO_IP, libc::IP_PKTINFO, [&1_u32.to_ne_bytes()[..], &ip.octets(), &ip.octets()].concat());
    let expected = [(0, vec![of_v6(Ipv6Addr::LOCALHOST)]), (0, vec![of_v6(ip.to_ipv6_mapped()), of_v4])];
    assert_eq!(send(), expected);
    v6.send_to(b"6", ("::1", port)).unwrap();
    assert_eq!(calls::receive_control(fd, 0).unwrap(), (libc::MSG_CTRUNC, Vec::new()));
}

/// The same on the kernel's sockets.
fn a_datagram_for_all_reaches_all() {
    let all: SocketAddr = "127.255.255.255:0".parse().unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let first = calls::reusing_socket(false);
    calls::bind(first, "0.0.0.0:0".parse().unwrap()).unwrap();
    let port = calls::local_name(first).unwrap().port();
    let to = SocketAddr::new(all.ip(), port);
    let bind = |ip: &str| {
        let ip: IpAddr = ip.parse().unwrap();
        let fd = calls::reusing_socket(ip.is_ipv6());
        calls::bind(fd, SocketAddr::new(ip, port)).unwrap();
        fd
    };
    let others = ["0.0.0.0", "127.255.255.255", "::", "::ffff:127.255.255.255"].map(bind);
    let strangers = ["127.0.0.1", "255.255.255.255", "::1"].map(bind);
    let of_another = bind("0.0.0.0");
    calls::connect(of_another, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 9)).unwrap();

    assert_eq!(sender.send_to(b"all", to).unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(sender.connect(to).unwrap_err().kind(), ErrorKind::PermissionDenied);
    sender.set_broadcast(true).unwrap();
    calls::switch_on(first, libc::IPPROTO_IP, libc::IP_PKTINFO);
    assert_eq!(sender.send_to(b"all", to).unwrap(), 3);
    sender.connect(to).unwrap();
    assert_eq!(sender.send(b"peer").unwrap(), 4);
    assert_eq!(sender.send_to(b"none", (all.ip(), 9)).unwrap(), 4);
    assert_eq!(sender.take_error().unwrap().map(|error| error.to_string()), None, "nobody refuses what is for all");

    let (own, broadcast) = (Ipv4Addr::LOCALHOST.octets(), Ipv4Addr::new(127, 255, 255, 255).octets());
    let destination = [&1_u32.to_ne_bytes()[..], &own, &broadcast].concat();
    calls::set_blocking(first, true);
    let told = calls::receive_control(first, 128).unwrap();
    assert_eq!(told, (0, vec![(libc::IPPROTO_IP, libc::IP_PKTINFO, destination)]));
    assert_eq!(calls::receive(first, 9, 0).unwrap(), b"peer");
    for fd in others {
        calls::set_blocking(fd, true);
        let (bytes, from) = calls::receive_from(fd, 9).unwrap();
        assert_eq!(
            (&bytes[..], from.map(|from| from.ip().to_canonical())),
            (&b"all"[..], Some(Ipv4Addr::LOCALHOST.into()))
        );
        assert_eq!(calls::receive(fd, 9, 0).unwrap(), b"peer");
    }
    for fd in strangers.into_iter().chain([of_another]) {
        assert_eq!(calls::receive(fd, 9, 0), Err(libc::EAGAIN));
    }
    let stream = TcpStream::connect(to).unwrap_err();
    assert_eq!(stream.raw_os_error(), Some(libc::ENETUNREACH));
    others.into_iter().chain(strangers).chain([first, of_another]).for_each(|fd| assert_eq!(calls::close(fd), Ok(0)));
}

/// Datagrams wait, and a closed socket frees its port.
pub(crate) fn datagrams() {
    let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    other.connect(one.local_addr().unwrap()).unwrap();
    // A second copy finds a socket, too.
    let _open = one.try_clone().unwrap();
    let waiting = thread::spawn(move || {
        let (length, from) = one.recv_from(&mut [0; 3]).unwrap();
        one.send_to(b"back", from).unwrap();
        length
    });
    assert_eq!(other.send(b"there").unwrap(), 5);
    assert_eq!(other.recv(&mut [0; 10]).unwrap(), 4);
    assert_eq!(waiting.join().unwrap(), 3, "what does not fit is thrown away");
    a_message_is_cut_into_segments();
    a_receiver_learns_where_a_datagram_was_sent_to();
    a_datagram_for_all_reaches_all();
    let address = other.local_addr().unwrap();
    let group = Ipv4Addr::new(224, 0, 0, 251);
    other.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST).unwrap();
    let error = other.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse, "the kernel's error");
    let error = UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"group", (group, 5_353)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
    drop(other);
    UdpSocket::bind(address).unwrap();
}

#[test]
fn datagrams_arrive() {
    a_message_is_cut_into_segments();
    a_receiver_learns_where_a_datagram_was_sent_to();
    a_datagram_for_all_reaches_all();
    for weather in ["calm", "", "delay=1..20ms"] {
        for seed in 0..6 {
            let run = run_with("datagrams", seed, &[("GMP_SEED_NET", weather)]);
            assert_ok(&run, weather, seed);
            let named = run.stderr.matches("224.0.0.251:5353 is not on the simulated network").count();
            assert_eq!(named, 1, "{}", run.stderr);
        }
    }
}

/// Prints which of ten datagrams arrive, in their order.
pub(crate) fn ten_datagrams() {
    let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    (0..10).for_each(|number| assert_eq!(other.send_to(&[number], one.local_addr().unwrap()).unwrap(), 1));
    one.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut number = [0];
    let numbers: String = iter::from_fn(|| one.recv(&mut number).ok().map(|_| format!(" {}", number[0]))).collect();
    println!("arrived:{numbers} end");
}

#[test]
fn datagrams_are_lost_doubled_and_overtaken() {
    let arrive = |weather| {
        let run = run_with("ten_datagrams", 1, &[("GMP_SEED_NET", weather)]);
        let line =
            run.stdout.split_once("arrived:").expect("the run prints").1.split_once(" end").expect("the run ends").0;
        line.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<u8>>()
    };
    let all: Vec<u8> = (0..10).collect();
    assert_eq!(arrive("delay=0..20ms"), all);
    assert_eq!(arrive("loss=100%"), []);
    assert_eq!(arrive("calm,dup=100%"), all.iter().flat_map(|number| [*number; 2]).collect::<Vec<_>>());
    let mut overtaken = arrive("delay=0..20ms,reorder=100%");
    assert_ne!(overtaken, all);
    overtaken.sort_unstable();
    assert_eq!(overtaken, all);
}
