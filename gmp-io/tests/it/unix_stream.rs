//! `UnixStream`.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::{AsyncWrite, Interest};
use gmp_io::net::{UnixListener, UnixStream};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::net_byte_stream::{carries_both_ways, carries_megabytes_in_order};
use crate::support::{current_thread, eventually, multi_thread, on_both, within_deadline};

fn pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().expect("a pair")
}

#[test]
fn what_is_written_is_read() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).expect("a listener");
        let client = UnixStream::connect(&path).await.expect("connected");
        let (server, _) = listener.accept().await.expect("accepted");
        carries_both_ways((client, server)).await;
    });
}

/// Other tasks get a turn first, as on tokio, even if the system has made the connection at once.
#[test]
fn connecting_is_pending_at_first() {
    // With one thread, so that no other thread notices that the connection is made.
    current_thread().block_on(async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).expect("a listener");
        let mut connecting = pin!(UnixStream::connect(&path));
        assert!(connecting.as_mut().now_or_never().is_none());
        within_deadline(connecting).await.expect("connected");
        drop(listener);
    });
}

#[test]
fn megabytes_arrive_in_order() {
    on_both(|| async { carries_megabytes_in_order(pair()).await });
}

/// A short read clears the readiness. If that erased the edge of a byte that arrived meanwhile, the
/// reader would wait without end.
#[test]
fn ping_pong_never_loses_an_edge() {
    on_both(|| async {
        let (mut left, mut right) = pair();
        let echo = gmp_exec::spawn(async move {
            let mut buf = [0; 64];
            loop {
                match right.read(&mut buf).await.expect("read") {
                    0 => break,
                    n => right.write_all(&buf[..n]).await.expect("written"),
                }
            }
        });
        for round in 0..2_000 {
            left.write_all(&[round as u8]).await.expect("written");
            assert_eq!(left.read_u8().await.expect("read"), round as u8);
        }
        drop(left);
        echo.await.expect("the echo");
    });
}

/// The system stops reading at a message that carries descriptors, and reports the data behind it
/// only once. Reads into small and large buffers, which take different paths.
#[test]
fn a_message_with_a_descriptor_does_not_hide_those_behind_it() {
    on_both(|| async {
        let (sender, mut receiver) = pair();
        for round in 0..200 {
            let descriptors = [sender.as_fd()];
            let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
            sendmsg(&sender, &[IoSlice::new(b"a")], &mut control, SendFlags::empty()).expect("sent");
            (&std::os::unix::net::UnixStream::from(sender.as_fd().try_clone_to_owned().expect("a duplicate")))
                .write_all(b"b")
                .expect("sent");
            yield_now().await;

            let mut received = vec![0; if round % 2 == 0 { 16 } else { 4096 }];
            assert_eq!(receiver.read(&mut received).await.expect("read"), 1, "up to the descriptor");
            assert_eq!(receiver.read(&mut received).await.expect("read"), 1, "and what comes after it");
            assert_eq!(received[0], b'b');
        }
    });
}

#[test]
fn tasks_that_share_a_stream_take_every_byte_once() {
    on_both(|| async {
        const TASKS: usize = 8;
        const MESSAGES: usize = 1_000;
        let (left, right) = pair();
        let (left, right) = (Arc::new(left), Arc::new(right));
        let taken = Arc::<AtomicUsize>::default();
        let readers: Vec<_> = (0..TASKS)
            .map(|_| {
                let (right, taken) = (right.clone(), taken.clone());
                gmp_exec::spawn(async move {
                    loop {
                        right.readable().await.expect("readable");
                        match right.try_read(&mut [0; 3]) {
                            Ok(0) => break,
                            Ok(n) => drop(taken.fetch_add(n, SeqCst)),
                            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                        }
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..TASKS)
            .map(|_| {
                let left = left.clone();
                gmp_exec::spawn(async move {
                    let duplicate = left.as_fd();
                    for _ in 0..MESSAGES {
                        let send = || Ok(rustix::net::send(duplicate, b"abcd", SendFlags::empty())?);
                        assert_eq!(left.async_io(Interest::WRITABLE, send).await.expect("sent"), 4);
                    }
                })
            })
            .collect();
        drop(left);
        for writer in writers {
            writer.await.expect("a writer");
        }
        for reader in readers {
            reader.await.expect("a reader");
        }
        assert_eq!(taken.load(SeqCst), 4 * TASKS * MESSAGES);
    });
}

#[test]
fn a_cancelled_read_loses_nothing() {
    on_both(|| async {
        let (mut left, mut right) = pair();
        let mut received = [0; 4];
        for _ in 0..100 {
            assert!(right.read(&mut received).now_or_never().is_none());
            left.write_all(b"x").await.expect("written");
            assert_eq!(right.read(&mut received).await.expect("read"), 1);
        }
    });
}

#[test]
fn a_half_closed_stream_still_goes_the_other_way() {
    on_both(|| async {
        let (mut left, mut right) = pair();
        left.write_all(b"last").await.expect("written");
        left.shutdown().await.expect("shut down");
        left.shutdown().await.expect("again");
        let mut received = Vec::new();
        right.read_to_end(&mut received).await.expect("read");
        assert_eq!(received, b"last");
        right.write_all(b"answer").await.expect("written");
        drop(right);
        left.read_to_end(&mut received).await.expect("read");
        assert_eq!(received, b"lastanswer");
        assert_eq!(left.write(b"x").await.expect_err("closed").kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_peer_that_is_gone_is_an_error_for_writers() {
    on_both(|| async {
        let (mut left, right) = pair();
        drop(right);
        let error = eventually(async || left.write(b"x").await.err()).await;
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        // Known to be closed a moment later, when the event has arrived.
        while !left.ready(Interest::WRITABLE).await.expect("ready").is_write_closed() {
            yield_now().await;
        }
    });
}

#[test]
fn a_peer_that_leaves_without_reading_resets_the_connection() {
    on_both(|| async {
        let (mut left, right) = pair();
        left.write_all(b"unread").await.expect("written");
        drop(right);
        let error = left.read(&mut [0; 4]).await.expect_err("reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(left.read(&mut [0; 4]).await.expect("the end"), 0, "the error is told once");
    });
}

#[test]
fn a_reader_that_waits_is_woken_when_the_peer_is_gone() {
    on_both(|| async {
        let (left, mut right) = pair();
        let reader = gmp_exec::spawn(async move { right.read(&mut [0; 4]).await });
        yield_now().await;
        drop(left);
        assert_eq!(reader.await.expect("the reader").expect("read"), 0);
    });
}

#[test]
#[cfg(any(target_os = "linux", target_os = "android"))]
fn the_peer_is_this_process() {
    on_both(|| async {
        let (left, _right) = pair();
        let peer = left.peer_cred().expect("credentials");
        assert_eq!(peer.pid(), Some(std::process::id() as i32));
        assert_eq!(peer.uid(), rustix::process::geteuid().as_raw());
        assert_eq!(peer.gid(), rustix::process::getegid().as_raw());
        assert_eq!(peer, left.peer_cred().expect("credentials"));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_socket_without_a_peer_has_no_peer_process() {
    let runtime = multi_thread();
    let _guard = runtime.enter();
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).expect("a socket");
    socket.set_nonblocking(true).expect("set");
    let stream = UnixStream::from_std(socket.into()).expect("registered");
    assert_eq!(stream.peer_cred().expect("credentials").pid(), Some(0));
}

#[test]
fn a_fresh_pair_is_writable_and_not_readable() {
    on_both(|| async {
        let (left, right) = pair();
        for stream in [&left, &right] {
            assert!(stream.writable().now_or_never().is_some());
            assert!(stream.readable().now_or_never().is_none());
        }
        assert!(left.local_addr().expect("an address").is_unnamed());
        assert!(left.peer_addr().expect("an address").is_unnamed());
        assert!(left.take_error().expect("asked").is_none());
    });
}

#[test]
fn trying_does_not_wait() {
    on_both(|| async {
        let (left, right) = pair();
        let would_block = |result: std::io::Result<usize>| {
            assert_eq!(result.expect_err("nothing there").kind(), ErrorKind::WouldBlock);
        };
        would_block(right.try_read(&mut [0; 4]));
        would_block(right.try_read_vectored(&mut [IoSliceMut::new(&mut [0; 4])]));
        would_block(right.try_read_buf(&mut Vec::with_capacity(4)));
        would_block(right.try_io(Interest::READABLE, || panic!("not ready, so not run")));

        let mut sent = 0;
        let full = loop {
            left.writable().now_or_never();
            match left.try_write(&[7; 4096]) {
                Ok(n) => sent += n,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        would_block(left.try_write_vectored(&[IoSlice::new(b"x")]));

        let mut received = 0;
        while received < sent {
            right.readable().await.expect("readable");
            received += right.try_read(&mut [0; 4096]).unwrap_or(0);
        }
        left.writable().await.expect("room again");
        assert_eq!(left.try_write(b"x").expect("written"), 1);
    });
}

#[test]
fn trying_with_several_buffers_moves_them_in_order() {
    on_both(|| async {
        let (left, right) = pair();
        let sent = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
        assert_eq!(left.try_write_vectored(&sent).expect("written"), 5);
        right.readable().await.expect("readable");
        let (mut first, mut second) = ([0; 3], [0; 3]);
        let mut bufs = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(right.try_read_vectored(&mut bufs).expect("read"), 5);
        assert_eq!((&first, &second[..2]), (b"abc", &b"de"[..]));

        left.try_write(b"fg").expect("written");
        right.readable().await.expect("readable");
        let mut spare = Vec::with_capacity(8);
        spare.push(b'>');
        assert_eq!(right.try_read_buf(&mut spare).expect("read"), 2);
        assert_eq!(spare, b">fg");
    });
}

#[test]
fn vectored_writes_arrive() {
    on_both(|| async {
        let (mut left, mut right) = pair();
        assert!(left.is_write_vectored());
        let bufs = [IoSlice::new(b"one "), IoSlice::new(b"two")];
        let n = poll_fn(|cx| Pin::new(&mut left).poll_write_vectored(cx, &bufs)).await.expect("written");
        assert_eq!(n, 7);
        let mut received = [0; 7];
        right.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"one two");
    });
}

#[test]
fn a_custom_operation_waits_with_async_io() {
    on_both(|| async {
        let (left, right) = pair();
        let reader = gmp_exec::spawn(async move {
            let receive = || {
                let (received, _) = recv(&right, [0; 4].as_mut_slice(), RecvFlags::empty())?;
                Ok(received)
            };
            right.async_io(Interest::READABLE, receive).await
        });
        yield_now().await;
        left.writable().await.expect("writable");
        assert_eq!(left.try_io(Interest::WRITABLE, || Ok(rustix::io::write(&left, b"abc")?)).expect("written"), 3);
        assert_eq!(reader.await.expect("the reader").expect("read"), 3);
    });
}

#[test]
fn readiness_polled_for_wakes_the_task() {
    on_both(|| async {
        let (mut left, right) = pair();
        poll_fn(|cx| left.poll_write_ready(cx)).await.expect("writable");
        let reader = gmp_exec::spawn(async move { poll_fn(|cx| right.poll_read_ready(cx)).await });
        yield_now().await;
        left.write_all(b"x").await.expect("written");
        reader.await.expect("the reader").expect("readable");
    });
}

#[test]
fn connecting_fails_without_a_listener() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        assert_eq!(UnixStream::connect(&path).await.expect_err("no file").kind(), ErrorKind::NotFound);
        drop(UnixListener::bind(&path).expect("a listener"));
        let error = eventually(async || UnixStream::connect(&path).await.err()).await;
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "no listener");
        let impossible = [directory.path().join("x\0y"), directory.path().join("long".repeat(40))];
        for path in impossible {
            assert_eq!(UnixStream::connect(&path).await.expect_err("no path").kind(), ErrorKind::InvalidInput);
        }
    });
}

#[test]
fn a_stream_goes_to_the_standard_library_and_back() {
    on_both(|| async {
        let (left, mut right) = pair();
        let fd = left.as_raw_fd();
        let mut left = left.into_std().expect("a std stream");
        assert_eq!(left.as_raw_fd(), fd);
        left.write_all(b"a").expect("written");
        let mut left = UnixStream::try_from(left).expect("registered again");
        left.write_all(b"b").await.expect("written");
        let mut received = [0; 2];
        right.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"ab");
        assert!(format!("{left:?}").starts_with("UnixStream"));
    });
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "Registering a blocking socket with the tokio runtime is unsupported.")]
fn a_blocking_stream_is_reported() {
    let (stream, _peer) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let runtime = multi_thread();
    let _guard = runtime.enter();
    let _ = UnixStream::from_std(stream);
}
