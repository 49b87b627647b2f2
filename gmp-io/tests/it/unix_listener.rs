//! `UnixListener`.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use futures::FutureExt;
use gmp_exec::time::timeout;
use gmp_io::net::unix::SocketAddr;
use gmp_io::net::{UnixListener, UnixStream};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::reactor_faults::NoDescriptors;
use crate::support::{DEADLINE, current_thread, in_child, multi_thread, on_both, within_deadline};

/// A path for a socket, and the guard that removes it.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    (directory, path)
}

/// As on tokio, the system chooses a name, and not the empty one, which all programs would share.
#[test]
#[cfg(target_os = "linux")]
fn an_empty_abstract_name_is_none() {
    on_both(|| async {
        let listeners = [(); 2].map(|()| UnixListener::bind("\0").expect("a listener"));
        let names =
            listeners.map(|listener| listener.local_addr().expect("bound").as_abstract_name().map(<[u8]>::to_owned));
        assert!(names[0].as_ref().is_some_and(|name| !name.is_empty()) && names[0] != names[1], "{names:?}");
        assert!(UnixStream::connect("\0").await.is_err());
    });
}

#[test]
fn many_connections_at_once_are_all_served() {
    on_both(|| async {
        const CLIENTS: usize = 100;
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).expect("a listener");
        let clients: Vec<_> = (0..CLIENTS)
            .map(|i| {
                let path = path.clone();
                gmp_exec::spawn(async move {
                    let mut stream = UnixStream::connect(&path).await.expect("connected");
                    stream.write_u32(i as u32).await.expect("written");
                    assert_eq!(stream.read_u32().await.expect("read"), i as u32);
                })
            })
            .collect();
        for _ in 0..CLIENTS {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            gmp_exec::spawn(async move {
                let number = stream.read_u32().await.expect("read");
                stream.write_u32(number).await.expect("written");
            });
        }
        for client in clients {
            client.await.expect("a client");
        }
    });
}

#[test]
fn several_tasks_accept_from_one_listener() {
    on_both(|| async {
        let (_directory, path) = place();
        let listener = std::sync::Arc::new(UnixListener::bind(&path).expect("a listener"));
        let servers: Vec<_> = (0..4)
            .map(|_| {
                let listener = listener.clone();
                gmp_exec::spawn(async move { listener.accept().await.map(drop) })
            })
            .collect();
        let mut clients = Vec::new();
        for _ in 0..4 {
            clients.push(UnixStream::connect(&path).await.expect("connected"));
        }
        for server in servers {
            server.await.expect("a server").expect("accepted");
        }
    });
}

#[test]
fn an_accept_that_is_given_up_loses_no_connection() {
    on_both(|| async {
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).expect("a listener");
        for _ in 0..100 {
            assert!(listener.accept().now_or_never().is_none());
            let _client = UnixStream::connect(&path).await.expect("connected");
            listener.accept().await.expect("accepted");
        }
    });
}

#[test]
fn a_client_that_has_left_is_accepted_with_what_it_sent() {
    on_both(|| async {
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).expect("a listener");
        let mut client = UnixStream::connect(&path).await.expect("connected");
        client.write_all(b"bye").await.expect("written");
        drop(client);
        let (mut server, peer) = listener.accept().await.expect("accepted");
        assert!(peer.is_unnamed());
        let mut received = String::new();
        server.read_to_string(&mut received).await.expect("read");
        assert_eq!(received, "bye");
    });
}

#[test]
fn accepting_by_poll_wakes_the_task() {
    on_both(|| async {
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).expect("a listener");
        let accepting = gmp_exec::spawn(async move { poll_fn(|cx| listener.poll_accept(cx)).await });
        gmp_exec::task::yield_now().await;
        let _client = UnixStream::connect(&path).await.expect("connected");
        let (_, peer) = accepting.await.expect("the server").expect("accepted");
        assert!(peer.is_unnamed());
    });
}

#[test]
fn a_path_is_bound_once() {
    on_both(|| async {
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).expect("a listener");
        assert_eq!(UnixListener::bind(&path).expect_err("taken").kind(), ErrorKind::AddrInUse);
        assert_eq!(listener.local_addr().expect("an address").as_pathname(), Some(path.as_path()));
        assert!(listener.take_error().expect("asked").is_none());
        drop(listener);
        assert_eq!(UnixListener::bind(&path).expect_err("the file is left").kind(), ErrorKind::AddrInUse);
        std::fs::remove_file(&path).expect("removed");
        UnixListener::bind(&path).expect("free again");
    });
}

#[test]
fn a_listener_goes_to_the_standard_library_and_back() {
    on_both(|| async {
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).expect("a listener");
        let fd = listener.as_raw_fd();
        let listener = listener.into_std().expect("a std listener");
        assert_eq!(listener.as_raw_fd(), fd);
        let listener = UnixListener::try_from(listener).expect("registered again");
        let _client = UnixStream::connect(&path).await.expect("connected");
        listener.accept().await.expect("accepted");
    });
}

#[test]
fn addresses_convert_both_ways() {
    let std = std::os::unix::net::SocketAddr::from_pathname("/a/path").expect("an address");
    let ours = SocketAddr::from(std.clone());
    assert_eq!(ours.as_pathname(), std.as_pathname());
    assert!(!ours.is_unnamed());
    assert_eq!(format!("{ours:?}"), format!("{std:?}"));
    assert_eq!(std::os::unix::net::SocketAddr::from(ours).as_pathname(), std.as_pathname());
}

/// Linux lets a path fill the address completely, without a final NUL. A server must be able to
/// handle such a client.
#[test]
#[cfg(target_os = "linux")]
fn a_client_with_the_longest_path_is_accepted() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, sendto, socket};

    on_both(|| async {
        let (directory, path) = place();
        let mut longest = directory.path().as_os_str().to_owned();
        longest.push("/");
        // If the directory leaves no room for `socket` and a NUL, there is nothing to test.
        let Some(room @ 7..) = 108_usize.checked_sub(longest.len()) else {
            return;
        };
        longest.push("x".repeat(room));
        let longest = PathBuf::from(longest);

        let listener = UnixListener::bind(&path).expect("a listener");
        let client = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
        bind(&client, &SocketAddrUnix::new(&longest).expect("an address")).expect("bound");
        connect(&client, &SocketAddrUnix::new(&path).expect("an address")).expect("connected");
        let (_, peer) = listener.accept().await.expect("accepted");
        assert_eq!(peer.as_pathname(), Some(longest.as_path()));

        std::fs::remove_file(&longest).expect("removed");
        std::fs::remove_file(&path).expect("removed");
        let receiver = gmp_io::net::UnixDatagram::bind(&path).expect("bound");
        let sender = socket(AddressFamily::UNIX, SocketType::DGRAM, None).expect("a socket");
        bind(&sender, &SocketAddrUnix::new(&longest).expect("an address")).expect("bound");
        let target = SocketAddrUnix::new(&path).expect("an address");
        for _ in 0..2 {
            sendto(&sender, b"x", rustix::net::SendFlags::empty(), &target).expect("sent");
        }
        let (_, peer) = receiver.recv_from(&mut [0; 4]).await.expect("received");
        assert_eq!(peer.as_pathname(), Some(longest.as_path()));
        let (n, peer) = receiver.recv_buf_from(&mut Vec::with_capacity(4)).await.expect("received");
        assert_eq!((n, peer.is_unnamed()), (1, true), "no address can be made of it");
    });
}

#[test]
#[cfg(any(target_os = "linux", target_os = "android"))]
fn abstract_names_need_no_file() {
    use std::os::linux::net::SocketAddrExt;

    // A name for each flavour: a child that another test starts may keep the first listener open
    // for a moment.
    let rounds = AtomicUsize::new(0);
    on_both(|| async {
        let round = rounds.fetch_add(1, SeqCst);
        let name = format!("gmp-io test {} {round}\0with any byte", std::process::id());
        let listener = UnixListener::bind(format!("\0{name}")).expect("a listener");
        let address = listener.local_addr().expect("an address");
        assert_eq!(address.as_abstract_name(), Some(name.as_bytes()));
        assert_eq!(address.as_pathname(), None);

        let by_name = UnixStream::connect(format!("\0{name}")).await.expect("connected");
        assert_eq!(by_name.peer_addr().expect("an address").as_abstract_name(), Some(name.as_bytes()));
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("an address");
        let _by_address = UnixStream::connect_addr(&address.clone().into()).await.expect("connected");
        assert_eq!(UnixListener::bind_addr(&address.into()).expect_err("taken").kind(), ErrorKind::AddrInUse);

        // A client can have such a name as well.
        let socket = gmp_io::net::UnixSocket::new_stream().expect("a socket");
        socket.bind(format!("\0{name} of the client")).expect("bound");
        let _client = socket.connect(format!("\0{name}")).await.expect("connected");
        for expected in [None, None, Some(format!("{name} of the client"))] {
            let (_, peer) = listener.accept().await.expect("accepted");
            assert_eq!(peer.as_abstract_name(), expected.as_deref().map(str::as_bytes));
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn accepting_without_descriptors_fails_and_recovers() {
    in_child("unix_listener::accepting_without_descriptors_fails_and_recovers", || {
        for runtime in &[multi_thread(), current_thread()] {
            runtime.block_on(within_deadline(accept_without_descriptors()));
        }
    });
}

#[cfg(target_os = "linux")]
async fn accept_without_descriptors() {
    let (_directory, path) = place();
    let listener = UnixListener::bind(&path).expect("a listener");
    let mut client = UnixStream::connect(&path).await.expect("connected");

    let mut none_left = NoDescriptors::left();
    for _ in 0..3 {
        none_left.take_rest();
        let error = timeout(DEADLINE, listener.accept()).await.expect("an answer").expect_err("no descriptors");
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::MFILE.raw_os_error()));
    }
    let errors = [
        UnixStream::pair().map(drop),
        UnixStream::connect(&path).await.map(drop),
        gmp_io::net::UnixDatagram::unbound().map(drop),
        gmp_io::net::UnixSocket::new_stream().map(drop),
        gmp_io::net::unix::pipe::pipe().map(drop),
    ];
    for result in errors {
        let error = result.expect_err("no descriptors");
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::MFILE.raw_os_error()));
    }
    drop(none_left);

    let (mut server, _) = listener.accept().await.expect("the connection is still there");
    client.write_all(b"x").await.expect("written");
    assert_eq!(server.read_u8().await.expect("read"), b'x');
}
