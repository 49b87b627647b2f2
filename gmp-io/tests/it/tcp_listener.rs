//! `TcpListener`.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use futures::FutureExt;
use gmp_exec::time::timeout;
use gmp_io::net::{TcpListener, TcpStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{DEADLINE, eventually, listen, on_both};

#[test]
fn connections_are_accepted_with_their_address() {
    on_both(|| async {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).await.expect("connected");
        let (_server, peer) = listener.accept().await.expect("accepted");
        assert_eq!(peer, client.local_addr().expect("an address"));
        let client = TcpStream::connect(address).await.expect("connected");
        let (_server, peer) = poll_fn(|cx| listener.poll_accept(cx)).await.expect("accepted");
        assert_eq!(peer, client.local_addr().expect("an address"));
    });
}

#[test]
fn connections_are_accepted_over_ipv6() {
    on_both(|| async {
        // A machine without IPv6 has nothing to test here.
        let Ok(listener) = TcpListener::bind("[::1]:0").await else {
            return;
        };
        let client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        let (_server, peer) = listener.accept().await.expect("accepted");
        assert_eq!(peer, client.local_addr().expect("an address"));
    });
}

#[test]
fn accepted_sockets_are_nonblocking_and_not_inherited() {
    on_both(|| async {
        let listener = listen().await;
        let _client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        let (server, _) = listener.accept().await.expect("accepted");
        assert!(socket2::SockRef::from(&server).nonblocking().expect("asked"));
        let flags = rustix::io::fcntl_getfd(server.as_fd()).expect("asked");
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    });
}

#[test]
fn an_address_in_use_is_an_error() {
    on_both(|| async {
        let listener = listen().await;
        let error = TcpListener::bind(listener.local_addr().expect("an address")).await.expect_err("in use");
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn a_listener_that_is_dropped_frees_its_address() {
    on_both(|| async {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).await.expect("connected");
        drop(listener.accept().await.expect("accepted"));
        drop((client, listener));
        let bound = eventually(async || match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse => None,
            result => Some(result),
        });
        // Much sooner than the rest of the connection would free it, which takes a minute.
        let bound = timeout(DEADLINE / 2, bound).await.expect("free, though old connections are still winding down");
        bound.expect("bound");
    });
}

/// The queue of unaccepted connections is longer than the 128 of the standard library.
#[test]
#[cfg(target_os = "linux")]
fn the_backlog_is_the_systems_maximum() {
    let limit = std::fs::read_to_string("/proc/sys/net/core/somaxconn").expect("the limit");
    let limit: usize = limit.trim().parse().expect("a number");
    let connections = limit.min(300);
    on_both(|| async move {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(TcpStream::connect(address).await.expect("connected before it is accepted"));
        }
        for _ in &clients {
            listener.accept().await.expect("accepted");
        }
    });
}

#[test]
fn several_tasks_accept_from_one_listener() {
    on_both(|| async {
        const TASKS: usize = 8;
        const EACH: usize = 16;
        let listener = Arc::new(listen().await);
        let address = listener.local_addr().expect("an address");
        let servers: Vec<_> = (0..TASKS)
            .map(|_| {
                let listener = listener.clone();
                gmp_exec::spawn(async move {
                    for _ in 0..EACH {
                        let (mut stream, _) = listener.accept().await.expect("accepted");
                        stream.write_all(b"x").await.expect("written");
                    }
                })
            })
            .collect();
        for _ in 0..TASKS * EACH {
            let mut client = TcpStream::connect(address).await.expect("connected");
            assert_eq!(client.read_u8().await.expect("read"), b'x');
        }
        for server in servers {
            server.await.expect("a server");
        }
    });
}

#[test]
fn an_accept_that_is_given_up_loses_no_connection() {
    on_both(|| async {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        for _ in 0..20 {
            assert!(listener.accept().now_or_never().is_none(), "no client has connected");
            let client = TcpStream::connect(address).await.expect("connected");
            let (_server, peer) = listener.accept().await.expect("accepted");
            assert_eq!(peer, client.local_addr().expect("an address"));
        }
    });
}

#[test]
fn a_listener_goes_to_the_standard_library_and_back() {
    on_both(|| async {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let fd = listener.as_raw_fd();
        let listener = listener.into_std().expect("a std listener");
        assert_eq!(listener.as_raw_fd(), fd);
        let listener = TcpListener::try_from(listener).expect("registered again");
        let _client = TcpStream::connect(address).await.expect("connected");
        listener.accept().await.expect("accepted");
    });
}

#[test]
fn the_ttl_is_kept() {
    on_both(|| async {
        let listener = listen().await;
        listener.set_ttl(99).expect("set");
        assert_eq!(listener.ttl().expect("got"), 99);
    });
}
