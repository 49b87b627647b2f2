//! Names and addresses: `lookup_host`, and connecting by name.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use gmp_io::net::{TcpListener, TcpStream, lookup_host};

use crate::support::{deaf, listen, on_both};

async fn lookup(host: impl gmp_io::net::ToSocketAddrs) -> Vec<SocketAddr> {
    lookup_host(host).await.expect("resolved").collect()
}

#[test]
fn addresses_stand_for_themselves() {
    on_both(|| async {
        let v4 = SocketAddrV4::new(Ipv4Addr::new(1, 2, 3, 4), 80);
        let v6 = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 0);
        let several = [SocketAddr::V4(v4), SocketAddr::V6(v6)];
        assert_eq!(lookup(v4).await, several[..1]);
        assert_eq!(lookup(v6).await, several[1..]);
        assert_eq!(lookup(several[0]).await, several[..1]);
        assert_eq!(lookup(&several[..]).await, several);
        assert_eq!(lookup((*v4.ip(), 80)).await, several[..1]);
        assert_eq!(lookup((*v6.ip(), 80)).await, several[1..]);
        assert_eq!(lookup((IpAddr::V4(*v4.ip()), 80)).await, several[..1]);
        assert_eq!(lookup("1.2.3.4:80").await, several[..1]);
        assert_eq!(lookup(&"[::1]:80".to_owned()).await, several[1..]);
        assert_eq!(lookup(("1.2.3.4", 80)).await, several[..1]);
        assert_eq!(lookup(("::1".to_owned(), 80)).await, several[1..]);
    });
}

#[test]
fn names_are_resolved() {
    on_both(|| async {
        for addresses in [lookup("localhost:80").await, lookup(("localhost", 80)).await] {
            assert!(!addresses.is_empty());
            assert!(addresses.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
        }
    });
}

#[test]
fn a_name_without_a_port_is_an_error() {
    on_both(|| async {
        let error = lookup_host("localhost").await.err().expect("no port");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn no_address_at_all_is_an_error() {
    on_both(|| async {
        let nothing: &[SocketAddr] = &[];
        let error = TcpStream::connect(nothing).await.expect_err("nothing to connect to");
        assert_eq!(error.to_string(), "could not resolve to any address");
        let error = TcpListener::bind(nothing).await.expect_err("nothing to bind");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn connecting_tries_every_address() {
    on_both(|| async {
        let listener = listen().await;
        let (_socket, closed) = deaf();
        let addresses = [closed, listener.local_addr().expect("an address")];
        let stream = TcpStream::connect(&addresses[..]).await.expect("the second one listens");
        assert_eq!(stream.peer_addr().expect("connected"), addresses[1]);
    });
}

#[test]
fn connecting_by_name_works() {
    on_both(|| async {
        let listener = TcpListener::bind("localhost:0").await.expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        TcpStream::connect(("localhost", port)).await.expect("connected");
        TcpStream::connect(format!("localhost:{port}")).await.expect("connected");
    });
}
