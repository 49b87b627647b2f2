//! `TcpSocket`.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{FromRawFd, IntoRawFd};
use std::time::Duration;

use gmp_io::net::TcpSocket;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{deaf, listen, on_both};

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

#[test]
fn a_socket_binds_listens_and_connects() {
    on_both(|| async {
        let server = TcpSocket::new_v4().expect("a socket");
        server.bind(any_port()).expect("bound");
        let listener = server.listen(128).expect("listening");

        let client = TcpSocket::new_v4().expect("a socket");
        client.bind(any_port()).expect("bound");
        let local = client.local_addr().expect("an address");
        let client = client.connect(listener.local_addr().expect("an address")).await.expect("connected");
        assert_eq!(client.local_addr().expect("an address"), local);
        assert_eq!(listener.accept().await.expect("accepted").1, local);
    });
}

#[test]
fn a_failed_connection_is_an_error() {
    on_both(|| async {
        let (_socket, address) = deaf();
        let error = TcpSocket::new_v4().expect("a socket").connect(address).await.expect_err("no listener");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn options_are_kept_and_inherited_by_the_stream() {
    on_both(|| async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_nodelay(true).expect("set");
        assert!(socket.nodelay().expect("got"));
        socket.set_keepalive(true).expect("set");
        assert!(socket.keepalive().expect("got"));
        socket.set_reuseaddr(true).expect("set");
        assert!(socket.reuseaddr().expect("got"));
        socket.set_reuseport(true).expect("set");
        assert!(socket.reuseport().expect("got"));
        socket.set_send_buffer_size(16 << 10).expect("set");
        assert!(socket.send_buffer_size().expect("got") >= 16 << 10);
        socket.set_recv_buffer_size(16 << 10).expect("set");
        assert!(socket.recv_buffer_size().expect("got") >= 16 << 10);
        socket.set_tos_v4(16).expect("set");
        assert_eq!(socket.tos_v4().expect("got"), 16);
        socket.set_zero_linger().expect("set");
        assert_eq!(socket.linger().expect("got"), Some(Duration::ZERO));
        assert!(socket.take_error().expect("got").is_none());

        let listener = listen().await;
        let stream = socket.connect(listener.local_addr().expect("an address")).await.expect("connected");
        assert!(stream.nodelay().expect("got"));
        assert_eq!(stream.linger().expect("got"), Some(Duration::ZERO));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_traffic_class_of_ipv6_is_kept() {
    // A machine without IPv6 has nothing to test here.
    let Ok(socket) = TcpSocket::new_v6() else {
        return;
    };
    socket.set_tclass_v6(96).expect("set");
    assert_eq!(socket.tclass_v6().expect("got"), 96);
}

#[test]
#[cfg(target_os = "linux")]
fn a_socket_belongs_to_no_device_at_first() {
    let socket = TcpSocket::new_v4().expect("a socket");
    assert_eq!(socket.device().expect("got"), None);
}

#[test]
fn a_socket_made_elsewhere_connects() {
    on_both(|| async {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let socket = TcpSocket::new_v4().expect("a socket");
        // SAFETY: the only owner has just released the descriptor.
        let socket = unsafe { TcpSocket::from_raw_fd(socket.into_raw_fd()) };
        let mut client = socket.connect(address).await.expect("connected");
        let (mut server, _) = listener.accept().await.expect("accepted");
        client.write_all(b"x").await.expect("written");
        assert_eq!(server.read_u8().await.expect("read"), b'x');
    });
}
