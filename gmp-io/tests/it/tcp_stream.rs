//! `TcpStream`.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use gmp_io::io::{Interest, ReadBuf};
use gmp_io::net::TcpStream;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::net_byte_stream::{carries_both_ways, carries_megabytes_in_order};
use crate::support::{current_thread, deaf, listen, multi_thread, on_both, pair, within_deadline};

#[test]
fn what_is_written_is_read() {
    on_both(|| async { carries_both_ways(pair().await).await });
}

#[test]
fn megabytes_arrive_in_order() {
    on_both(|| async { carries_megabytes_in_order(pair().await).await });
}

/// Other tasks get a turn first, as on tokio, even if the system has made the connection at once.
#[test]
fn connecting_is_pending_at_first() {
    // With one thread, so that no other thread notices that the connection is made.
    current_thread().block_on(async {
        let listener = listen().await;
        let mut connecting = pin!(TcpStream::connect(listener.local_addr().expect("an address")));
        assert!(connecting.as_mut().now_or_never().is_none());
        within_deadline(connecting).await.expect("connected");
        drop(listener);
    });
}

#[test]
fn a_refused_connection_is_an_error() {
    on_both(|| async {
        let (_socket, address) = deaf();
        let error = TcpStream::connect(address).await.expect_err("no listener");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_reset_wakes_the_reader_with_an_error() {
    on_both(|| async {
        let (mut client, server) = pair().await;
        let reader = gmp_exec::spawn(async move { client.read(&mut [0; 16]).await });
        server.set_zero_linger().expect("set");
        drop(server);
        let error = reader.await.expect("the reader").expect_err("reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn the_end_of_the_stream_wakes_the_reader() {
    on_both(|| async {
        let (mut client, mut server) = pair().await;
        let reader = gmp_exec::spawn(async move { client.read(&mut [0; 16]).await });
        gmp_exec::task::yield_now().await;
        server.shutdown().await.expect("closed");
        assert_eq!(reader.await.expect("the reader").expect("read"), 0);
    });
}

#[test]
fn peeking_leaves_the_bytes() {
    on_both(|| async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"hello").await.expect("written");
        let mut seen = [0; 16];
        assert_eq!(server.peek(&mut seen).await.expect("peeked"), 5);
        let mut polled = [0; 3];
        let mut buf = ReadBuf::new(&mut polled);
        assert_eq!(poll_fn(|cx| server.poll_peek(cx, &mut buf)).await.expect("peeked"), 3);
        assert_eq!(&polled, b"hel");
        assert_eq!(server.read(&mut seen).await.expect("read"), 5);
        assert_eq!(&seen[..5], b"hello");
    });
}

#[test]
fn trying_does_not_wait() {
    on_both(|| async {
        let (client, server) = pair().await;
        let mut received = [0; 16];
        assert_eq!(server.try_read(&mut received).expect_err("nothing there").kind(), ErrorKind::WouldBlock);
        client.writable().await.expect("writable");
        assert_eq!(client.try_write(b"ping").expect("written"), 4);
        let n = loop {
            server.readable().await.expect("readable");
            match server.try_read(&mut received) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => break result.expect("read"),
            }
        };
        assert_eq!(&received[..n], b"ping");
    });
}

#[test]
fn trying_with_several_buffers_moves_them_in_order() {
    on_both(|| async {
        let (client, server) = pair().await;
        client.writable().await.expect("writable");
        let written = client.try_write_vectored(&[IoSlice::new(b"he"), IoSlice::new(b"llo")]);
        assert_eq!(written.expect("written"), 5);

        server.readable().await.expect("readable");
        let (mut first, mut second) = ([0; 1], [0; 16]);
        let mut bufs = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        let read = loop {
            match server.try_read_vectored(&mut bufs) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => server.readable().await.expect("readable"),
                result => break result.expect("read"),
            }
        };
        assert_eq!(read, 5);
        assert_eq!((&first, &second[..4]), (b"h", &b"ello"[..]));
    });
}

#[test]
fn trying_with_spare_room_appends() {
    on_both(|| async {
        let (client, server) = pair().await;
        client.try_write(b"world").expect("written");
        let mut received = b"hello ".to_vec();
        received.reserve(64);
        while received.len() < 11 {
            server.readable().await.expect("readable");
            match server.try_read_buf(&mut received) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => drop(result.expect("read")),
            }
        }
        assert_eq!(received, b"hello world");
    });
}

#[test]
fn vectored_writes_arrive() {
    on_both(|| async {
        let (mut client, mut server) = pair().await;
        let written = client.write_vectored(&[IoSlice::new(b"he"), IoSlice::new(b"llo")]).await;
        assert_eq!(written.expect("written"), 5);
        let mut received = [0; 5];
        server.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"hello");
    });
}

#[test]
fn ready_says_for_what() {
    on_both(|| async {
        let (mut client, server) = pair().await;
        let ready = server.ready(Interest::WRITABLE).await.expect("ready");
        assert!(ready.is_writable() && !ready.is_readable());
        client.write_all(b"x").await.expect("written");
        client.shutdown().await.expect("closed");
        loop {
            let ready = server.ready(Interest::READABLE).await.expect("ready");
            if ready.is_read_closed() {
                break assert!(ready.is_readable());
            }
            gmp_exec::task::yield_now().await;
        }
    });
}

#[test]
fn a_full_socket_is_not_writable_until_the_peer_reads() {
    on_both(|| async {
        let (client, mut server) = pair().await;
        let chunk = vec![7; 64 << 10];
        let mut sent = 0;
        // The kernel moves bytes to the peer's buffer in the background, so "full" may be reported
        // a few times.
        loop {
            match client.try_write(&chunk) {
                Ok(n) => sent += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if gmp_exec::time::timeout(Duration::from_millis(100), client.writable()).await.is_err() {
                        break;
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
        let reader = gmp_exec::spawn(async move {
            let mut received = vec![0; sent];
            server.read_exact(&mut received).await.expect("read");
            server
        });
        client.writable().await.expect("writable again");
        let _server = reader.await.expect("the reader");
    });
}

#[test]
fn custom_operations_wait_like_the_built_in_ones() {
    on_both(|| async {
        let (client, server) = pair().await;
        let mut received = [0; 16];
        let receive = server.async_io(Interest::READABLE, || {
            let (_, n) = rustix::net::recv(&server, &mut received, RecvFlags::empty())?;
            Ok(n)
        });
        let send = async {
            gmp_exec::task::yield_now().await;
            client.async_io(Interest::WRITABLE, || Ok(rustix::net::send(&client, b"ping", SendFlags::empty())?)).await
        };
        let (n, sent) = tokio::join!(receive, send);
        assert_eq!((n.expect("received"), sent.expect("sent")), (4, 4));
        assert_eq!(&received[..4], b"ping");
    });
}

#[test]
fn an_own_operation_that_would_block_takes_the_readiness_away() {
    on_both(|| async {
        let (client, _server) = pair().await;
        client.writable().await.expect("writable");
        let refused =
            client.try_io(Interest::WRITABLE, || -> std::io::Result<()> { Err(ErrorKind::WouldBlock.into()) });
        assert_eq!(refused.expect_err("refused").kind(), ErrorKind::WouldBlock);
        let mut ran = false;
        let again = client.try_io(Interest::WRITABLE, || {
            ran = true;
            Ok(())
        });
        // An event may have arrived in between (the socket is writable); then the operation ran and
        // succeeded.
        assert_eq!(again.is_ok(), ran);
    });
}

#[test]
fn readiness_polled_for_wakes_the_task() {
    on_both(|| async {
        let (client, server) = pair().await;
        let mut sent = false;
        poll_fn(|cx| {
            let ready = match server.poll_read_ready(cx) {
                Poll::Ready(ready) => ready,
                Poll::Pending => {
                    if !sent {
                        client.try_write(b"x").expect("written");
                        sent = true;
                    }
                    return Poll::Pending;
                }
            };
            ready.expect("ready");
            // Accepted sockets start out as readable, on a guess.
            match server.try_read(&mut [0; 4]) {
                Ok(n) => {
                    assert_eq!(n, 1);
                    Poll::Ready(())
                }
                Err(_) => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
            }
        })
        .await;
        poll_fn(|cx| client.poll_write_ready(cx)).await.expect("writable");
    });
}

#[test]
fn options_are_kept() {
    on_both(|| async {
        let (client, _server) = pair().await;
        for nodelay in [true, false] {
            client.set_nodelay(nodelay).expect("set");
            assert_eq!(client.nodelay().expect("got"), nodelay);
        }
        client.set_ttl(77).expect("set");
        assert_eq!(client.ttl().expect("got"), 77);
        assert_eq!(client.linger().expect("got"), None);
        client.set_zero_linger().expect("set");
        assert_eq!(client.linger().expect("got"), Some(Duration::ZERO));
        #[expect(deprecated, reason = "deprecated as in tokio, and still there")]
        client.set_linger(None).expect("set");
        assert_eq!(client.linger().expect("got"), None);
        #[cfg(target_os = "linux")]
        {
            client.set_quickack(true).expect("set");
            assert!(client.quickack().expect("got"));
        }
        assert!(client.take_error().expect("got").is_none());
    });
}

#[test]
fn addresses_of_both_ends_match() {
    on_both(|| async {
        let (client, server) = pair().await;
        assert_eq!(client.local_addr().expect("an address"), server.peer_addr().expect("an address"));
        assert_eq!(client.peer_addr().expect("an address"), server.local_addr().expect("an address"));
    });
}

#[test]
fn a_stream_goes_to_the_standard_library_and_back() {
    on_both(|| async {
        let (client, mut server) = pair().await;
        let fd = client.as_raw_fd();
        let mut client = client.into_std().expect("a std stream");
        assert_eq!(client.as_raw_fd(), fd);
        client.write_all(b"a").expect("written");
        let mut client = TcpStream::from_std(client).expect("registered again");
        client.write_all(b"b").await.expect("written");
        let mut received = [0; 2];
        server.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"ab");
        server.write_all(b"c").await.expect("written");
        client.read_exact(&mut received[..1]).await.expect("read");
        let client = client.into_std().expect("a std stream");
        drop(server);
        client.set_nonblocking(false).expect("set");
        assert_eq!((&client).read(&mut received).expect("read"), 0);
    });
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "Registering a blocking socket with the tokio runtime is unsupported.")]
fn a_blocking_stream_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let stream = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
    let runtime = multi_thread();
    let _guard = runtime.enter();
    let _ = TcpStream::from_std(stream);
}

#[test]
#[should_panic(expected = "there is no reactor running, must be called from the context of a Tokio 1.x runtime")]
fn registering_outside_a_runtime_panics() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.set_nonblocking(true).expect("set");
    let _ = gmp_io::net::TcpListener::from_std(listener);
}

#[test]
fn waiting_does_not_need_the_task_that_connected() {
    let runtime = multi_thread();
    let (client, server) = runtime.block_on(pair());
    let reader = runtime.spawn(async move {
        let mut server = server;
        let mut received = String::new();
        server.read_to_string(&mut received).await.expect("read");
        received
    });
    runtime.block_on(async move {
        let mut client = client;
        client.write_all(b"hello").await.expect("written");
        drop(client);
        assert_eq!(reader.await.expect("the reader"), "hello");
    });
}

/// A poll that finds nothing returns `Pending` and changes nothing in the system.
#[test]
fn a_read_that_has_to_wait_is_pending() {
    on_both(|| async {
        let (_client, mut server) = pair().await;
        assert!(server.read(&mut [0; 4]).now_or_never().is_none());
        assert!(server.readable().now_or_never().is_none());
    });
}
