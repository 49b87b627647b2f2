//! `UnixSocket`.

use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd};

use gmp_io::net::UnixSocket;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::on_both;

#[test]
fn a_stream_may_have_a_path_of_its_own() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let (here, there) = (directory.path().join("here"), directory.path().join("there"));
        let socket = UnixSocket::new_stream().expect("a socket");
        socket.bind(&there).expect("bound");
        let listener = socket.listen(8).expect("listening");

        let socket = UnixSocket::new_stream().expect("a socket");
        socket.bind(&here).expect("bound");
        let mut client = socket.connect(&there).await.expect("connected");
        let (mut server, peer) = listener.accept().await.expect("accepted");
        assert_eq!(peer.as_pathname(), Some(here.as_path()));
        client.write_u8(7).await.expect("written");
        assert_eq!(server.read_u8().await.expect("read"), 7);
    });
}

#[test]
fn a_datagram_socket_sends_datagrams() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        let socket = UnixSocket::new_datagram().expect("a socket");
        socket.bind(&path).expect("bound");
        let receiver = socket.datagram().expect("a datagram socket");
        let sender = UnixSocket::new_datagram().expect("a socket").datagram().expect("a datagram socket");
        sender.send_to(b"abc", &path).await.expect("sent");
        assert_eq!(receiver.recv(&mut [0; 8]).await.expect("received"), 3);
    });
}

#[test]
fn the_wrong_kind_is_refused() {
    on_both(|| async {
        let datagram = || UnixSocket::new_datagram().expect("a socket");
        let stream = UnixSocket::new_stream().expect("a socket");
        let errors = [
            (datagram().listen(1).map(drop), "listen cannot be called on a datagram socket"),
            (datagram().connect("/nowhere").await.map(drop), "connect cannot be called on a datagram socket"),
            (stream.datagram().map(drop), "datagram cannot be called on a stream socket"),
        ];
        for (result, message) in errors {
            let error = result.expect_err("the wrong kind");
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Other, message));
        }
    });
}

/// On Linux connecting succeeds or fails at once. On failure, tokio's error makes programs wait and
/// try again.
#[test]
#[cfg(target_os = "linux")]
fn a_full_queue_turns_the_next_client_away() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        let socket = UnixSocket::new_stream().expect("a socket");
        socket.bind(&path).expect("bound");
        let listener = socket.listen(1).expect("listening");
        let mut clients = Vec::new();
        let refused = loop {
            match UnixSocket::new_stream().expect("a socket").connect(&path).await {
                Ok(client) => clients.push(client),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
        assert!(!clients.is_empty());
        listener.accept().await.expect("accepted");
        UnixSocket::new_stream().expect("a socket").connect(&path).await.expect("there is room again");
    });
}

#[test]
fn the_descriptor_shows() {
    let socket = UnixSocket::new_stream().expect("a socket, without any runtime");
    assert_eq!(socket.as_fd().as_raw_fd(), socket.as_raw_fd());
    assert!(format!("{socket:?}").starts_with("UnixSocket"));
    let (fd, raw) = (socket.as_raw_fd(), socket.into_raw_fd());
    assert_eq!(fd, raw);
}
