//! A UDP socket before it sends: its addresses, options, groups and descriptor.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};

use gmp_io::net::UdpSocket;

use crate::support::{current_thread, on_both};
use crate::udp::{address, bind, pair};

#[test]
fn binding_tries_every_address() {
    on_both(|| async {
        let taken = bind().await;
        let addresses = [address(&taken), SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
        let socket = UdpSocket::bind(&addresses[..]).await.expect("the second one is free");
        assert_ne!(address(&socket), addresses[0]);
        assert_eq!(UdpSocket::bind(addresses[0]).await.expect_err("taken").kind(), ErrorKind::AddrInUse);
        let by_name = UdpSocket::bind("localhost:0").await.expect("a socket");
        assert!(address(&by_name).ip().is_loopback());
    });
}

#[test]
fn no_address_at_all_is_an_error() {
    on_both(|| async {
        let nothing: &[SocketAddr] = &[];
        let error = UdpSocket::bind(nothing).await.expect_err("nothing to bind");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidInput, NO_ADDRESS.to_owned()));
        let socket = bind().await;
        let error = socket.connect(nothing).await.expect_err("nothing to connect to");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidInput, NO_ADDRESS.to_owned()));
        let error = socket.send_to(b"x", nothing).await.expect_err("no address");
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::InvalidInput, "no addresses to send data to".to_owned())
        );
    });
}

const NO_ADDRESS: &str = "could not resolve to any address";

#[test]
fn names_are_resolved() {
    on_both(|| async {
        let (a, b) = (bind().await, bind().await);
        let target = format!("127.0.0.1:{}", address(&b).port());
        a.send_to(b"x", target.as_str()).await.expect("sent");
        assert_eq!(b.recv_from(&mut [0; 4]).await.expect("received"), (1, address(&a)));
        a.connect(target).await.expect("connected");
        assert_eq!(a.peer_addr().expect("connected"), address(&b));
    });
}

#[test]
fn datagrams_go_over_ipv6() {
    on_both(|| async {
        // A machine without IPv6 has nothing to test here.
        let Ok(a) = UdpSocket::bind("[::1]:0").await else {
            return;
        };
        let b = UdpSocket::bind((IpAddr::V6(Ipv6Addr::LOCALHOST), 0)).await.expect("a socket");
        a.send_to(b"six", address(&b)).await.expect("sent");
        let mut growing = Vec::with_capacity(16);
        assert_eq!(b.recv_buf_from(&mut growing).await.expect("received"), (3, address(&a)));
        a.set_tclass_v6(0x20).expect("set");
        assert_eq!(a.tclass_v6().expect("got"), 0x20);
        a.set_multicast_loop_v6(false).expect("set");
        assert!(!a.multicast_loop_v6().expect("got"));
    });
}

#[test]
fn options_are_kept() {
    on_both(|| async {
        let socket = bind().await;
        for on in [true, false] {
            socket.set_broadcast(on).expect("set");
            assert_eq!(socket.broadcast().expect("got"), on);
            socket.set_multicast_loop_v4(on).expect("set");
            assert_eq!(socket.multicast_loop_v4().expect("got"), on);
        }
        socket.set_multicast_ttl_v4(7).expect("set");
        assert_eq!(socket.multicast_ttl_v4().expect("got"), 7);
        socket.set_ttl(77).expect("set");
        assert_eq!(socket.ttl().expect("got"), 77);
        socket.set_tos_v4(0x10).expect("set");
        assert_eq!(socket.tos_v4().expect("got"), 0x10);
        #[cfg(target_os = "linux")]
        {
            assert_eq!(socket.device().expect("got"), None);
            socket.bind_device(Some(b"lo")).expect("bound");
            assert_eq!(socket.device().expect("got").as_deref(), Some(&b"lo"[..]));
            // This requires a privilege. Binding, on newer systems, does not.
            match socket.bind_device(None) {
                Ok(()) => assert_eq!(socket.device().expect("got"), None),
                Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied),
            }
        }
    });
}

#[test]
#[expect(deprecated, reason = "the old names are still there")]
fn the_old_names_of_the_type_of_service_do_the_same() {
    on_both(|| async {
        let socket = bind().await;
        socket.set_tos(0x08).expect("set");
        assert_eq!((socket.tos().expect("got"), socket.tos_v4().expect("got")), (0x08, 0x08));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn members_of_a_group_receive_its_datagrams() {
    on_both(|| async {
        let group = Ipv4Addr::new(224, 0, 0, 251);
        let member = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await.expect("a socket");
        member.join_multicast_v4(group, Ipv4Addr::LOCALHOST).expect("joined");
        let again = member.join_multicast_v4(group, Ipv4Addr::LOCALHOST);
        assert_eq!(again.expect_err("a member already").kind(), ErrorKind::AddrInUse);

        let sender = bind().await;
        let interface = Ipv4Addr::LOCALHOST;
        socket2::SockRef::from(&sender).set_multicast_if_v4(&interface).expect("set");
        sender.send_to(b"all of you", (group, address(&member).port())).await.expect("sent");
        assert_eq!(member.recv_from(&mut [0; 32]).await.expect("received"), (10, address(&sender)));
        member.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).expect("left");
        member.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).expect_err("a member no more");

        let Ok(member) = UdpSocket::bind("[::]:0").await else {
            return;
        };
        let (group, loopback) = (Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb), 1);
        member.join_multicast_v6(&group, loopback).expect("joined");
        member.leave_multicast_v6(&group, loopback).expect("left");
        member.leave_multicast_v6(&group, loopback).expect_err("a member no more");
    });
}

#[test]
fn a_socket_goes_to_the_standard_library_and_back() {
    on_both(|| async {
        let (a, b) = pair().await;
        let number = b.as_raw_fd();
        let b = b.into_std().expect("a std socket");
        assert_eq!(b.as_raw_fd(), number);
        a.send(b"meanwhile").await.expect("sent");
        let b = UdpSocket::try_from(b).expect("registered again");
        assert_eq!(b.recv(&mut [0; 16]).await.expect("received"), 9);
        b.send(b"x").await.expect("sent");
        assert_eq!(a.recv(&mut [0; 16]).await.expect("received"), 1);
    });
}

#[test]
fn sockets_are_nonblocking_and_not_inherited() {
    on_both(|| async {
        let socket = bind().await;
        assert!(socket2::SockRef::from(&socket).nonblocking().expect("asked"));
        let flags = rustix::io::fcntl_getfd(socket.as_fd()).expect("asked");
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        assert!(format!("{socket:?}").contains(&address(&socket).to_string()));
    });
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "Registering a blocking socket with the tokio runtime is unsupported.")]
fn a_blocking_socket_is_reported() {
    let runtime = current_thread();
    let _entered = runtime.enter();
    let _ = UdpSocket::from_std(std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket"));
}
