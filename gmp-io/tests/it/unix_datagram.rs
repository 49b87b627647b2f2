//! `UnixDatagram`.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::{Interest, ReadBuf};
use gmp_io::net::UnixDatagram;
use tempfile::TempDir;

use crate::support::{eventually, on_both};

fn pair() -> (UnixDatagram, UnixDatagram) {
    UnixDatagram::pair().expect("a pair")
}

/// Two paths for sockets, and the guard that removes them.
fn places() -> (TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = (directory.path().join("here"), directory.path().join("there"));
    (directory, paths.0, paths.1)
}

#[test]
fn datagrams_keep_their_boundaries_and_their_order() {
    on_both(|| async {
        let (left, right) = pair();
        let sender = gmp_exec::spawn(async move {
            for length in 0..500 {
                assert_eq!(left.send(&vec![length as u8; length]).await.expect("sent"), length);
            }
        });
        let mut buf = [0; 512];
        for length in 0..500 {
            assert_eq!(right.recv(&mut buf).await.expect("received"), length);
            assert!(buf[..length].iter().all(|byte| *byte == length as u8));
        }
        sender.await.expect("the sender");
    });
}

#[test]
fn what_does_not_fit_is_cut_off() {
    on_both(|| async {
        let (left, right) = pair();
        let mut buf = [0; 3];
        for _ in 0..2 {
            left.send(b"too long").await.expect("sent");
        }
        left.send(b"abc").await.expect("sent");
        assert_eq!(right.recv(&mut buf).await.expect("received"), 3);
        assert_eq!(&buf, b"too");
        let mut spare = Vec::with_capacity(4);
        assert_eq!(right.recv_buf(&mut spare).await.expect("received"), 4);
        assert_eq!(spare, b"too ");
        assert_eq!(right.recv(&mut buf).await.expect("received"), 3);
        assert_eq!(&buf, b"abc", "the rest is gone");
    });
}

#[test]
fn a_bound_sender_can_be_answered() {
    on_both(|| async {
        let (_directory, here, there) = places();
        let (client, server) = (UnixDatagram::bind(&here).expect("bound"), UnixDatagram::bind(&there).expect("bound"));
        assert_eq!(client.send_to(b"question", &there).await.expect("sent"), 8);
        let mut buf = [0; 16];
        let (n, sender) = server.recv_from(&mut buf).await.expect("received");
        assert_eq!((&buf[..n], sender.as_pathname()), (&b"question"[..], Some(here.as_path())));

        server.connect(&here).expect("connected");
        assert_eq!(server.peer_addr().expect("a peer").as_pathname(), Some(here.as_path()));
        assert_eq!(server.local_addr().expect("an address").as_pathname(), Some(there.as_path()));
        server.send(b"answer").await.expect("sent");
        let mut spare = Vec::with_capacity(16);
        let (n, sender) = client.recv_buf_from(&mut spare).await.expect("received");
        assert_eq!((n, &spare[..], sender.as_pathname()), (6, &b"answer"[..], Some(there.as_path())));
    });
}

#[test]
fn an_unbound_sender_has_no_name() {
    on_both(|| async {
        let (_directory, here, _) = places();
        let server = UnixDatagram::bind(&here).expect("bound");
        let client = UnixDatagram::unbound().expect("a socket");
        client.send_to(b"x", &here).await.expect("sent");
        let (n, sender) = server.recv_from(&mut [0; 4]).await.expect("received");
        assert_eq!(n, 1);
        assert!(sender.is_unnamed());
        assert!(client.local_addr().expect("an address").is_unnamed());
        assert_eq!(client.peer_addr().expect_err("no peer").kind(), ErrorKind::NotConnected);
        assert_eq!(client.send(b"x").await.expect_err("to whom").kind(), ErrorKind::NotConnected);
    });
}

#[test]
fn a_full_queue_makes_the_sender_wait() {
    on_both(|| async {
        let (left, right) = pair();
        let mut sent = 0;
        while left.try_send(&[0; 100]).is_ok() {
            sent += 1;
        }
        assert!(sent > 0);
        let waiting = gmp_exec::spawn(async move { left.send(b"last").await });
        for _ in 0..sent {
            assert_eq!(right.recv(&mut [0; 200]).await.expect("received"), 100);
        }
        assert_eq!(right.recv(&mut [0; 200]).await.expect("received"), 4);
        waiting.await.expect("the sender").expect("sent");
    });
}

#[test]
fn after_an_error_a_full_queue_makes_the_sender_wait_all_the_same() {
    on_both(|| async {
        let (directory, here, there) = places();
        let (left, right) = (UnixDatagram::bind(&here).expect("bound"), UnixDatagram::bind(&there).expect("bound"));
        left.connect(&there).expect("connected");
        right.connect(&here).expect("connected");
        left.send(b"never read").await.expect("sent");
        // Connects to another peer without having read a datagram of the first, which the first
        // gets as an error.
        let elsewhere = directory.path().join("elsewhere");
        let other = UnixDatagram::bind(&elsewhere).expect("bound");
        right.connect(&elsewhere).expect("connected");
        left.ready(Interest::ERROR).await.expect("ready");
        assert_eq!(left.take_error().expect("asked").expect("an error").kind(), ErrorKind::ConnectionReset);

        left.connect(&elsewhere).expect("connected");
        let mut sent = 0;
        eventually(async || {
            while left.try_send(&[0; 100]).is_ok() {
                sent += 1;
            }
            left.writable().now_or_never().is_none().then_some(())
        })
        .await;
        let waiting = gmp_exec::spawn(async move { left.send(b"last").await });
        for _ in 0..sent {
            assert_eq!(other.recv(&mut [0; 200]).await.expect("received"), 100);
        }
        assert_eq!(other.recv(&mut [0; 200]).await.expect("received"), 4);
        waiting.await.expect("the sender").expect("sent");
    });
}

#[test]
fn trying_does_not_wait() {
    on_both(|| async {
        let (_directory, here, there) = places();
        let (left, right) = (UnixDatagram::bind(&here).expect("bound"), UnixDatagram::bind(&there).expect("bound"));
        let would_block = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::WouldBlock);
        would_block(right.try_recv(&mut [0; 4]).expect_err("nothing there"));
        would_block(right.try_recv_from(&mut [0; 4]).expect_err("nothing there"));
        would_block(right.try_recv_buf(&mut Vec::with_capacity(4)).expect_err("nothing there"));
        would_block(right.try_recv_buf_from(&mut Vec::with_capacity(4)).expect_err("nothing there"));

        left.connect(&there).expect("connected");
        for _ in 0..4 {
            left.writable().await.expect("writable");
            left.try_send_to(b"abc", &there).or_else(|_| left.try_send(b"abc")).expect("sent");
        }
        let mut buf = [0; 8];
        let mut spare = Vec::with_capacity(8);
        right.readable().await.expect("readable");
        assert_eq!(right.try_recv(&mut buf).expect("received"), 3);
        assert_eq!(right.try_recv_buf(&mut spare).expect("received"), 3);
        let (n, sender) = right.try_recv_from(&mut buf).expect("received");
        assert_eq!((n, sender.as_pathname()), (3, Some(here.as_path())));
        let (n, sender) = right.try_recv_buf_from(&mut spare).expect("received");
        assert_eq!((n, sender.as_pathname()), (3, Some(here.as_path())));
        assert_eq!(spare, b"abcabc");
        would_block(right.try_recv(&mut buf).expect_err("nothing left"));
    });
}

#[test]
fn every_operation_has_a_poll_form() {
    on_both(|| async {
        let (_directory, here, there) = places();
        let (left, right) = (UnixDatagram::bind(&here).expect("bound"), UnixDatagram::bind(&there).expect("bound"));
        let receiver = gmp_exec::spawn(async move {
            poll_fn(|cx| right.poll_recv_ready(cx)).await.expect("ready");
            let mut room = [0; 8];
            let mut buf = ReadBuf::new(&mut room);
            let sender = poll_fn(|cx| right.poll_recv_from(cx, &mut buf)).await.expect("received");
            poll_fn(|cx| right.poll_recv(cx, &mut buf)).await.expect("received");
            (buf.filled().to_vec(), sender)
        });
        yield_now().await;
        poll_fn(|cx| left.poll_send_ready(cx)).await.expect("ready");
        assert_eq!(poll_fn(|cx| left.poll_send_to(cx, b"one", &there)).await.expect("sent"), 3);
        left.connect(&there).expect("connected");
        assert_eq!(poll_fn(|cx| left.poll_send(cx, b"two")).await.expect("sent"), 3);
        let (received, sender) = receiver.await.expect("the receiver");
        assert_eq!((received.as_slice(), sender.as_pathname()), (&b"onetwo"[..], Some(here.as_path())));
    });
}

#[test]
fn a_cancelled_receive_loses_nothing() {
    on_both(|| async {
        let (left, right) = pair();
        let mut buf = [0; 8];
        for _ in 0..100 {
            assert!(right.recv(&mut buf).now_or_never().is_none());
            assert!(right.recv_buf(&mut Vec::with_capacity(8)).now_or_never().is_none());
            left.send(b"kept").await.expect("sent");
            assert_eq!(right.recv(&mut buf).await.expect("received"), 4);
        }
    });
}

#[test]
fn tasks_that_share_a_socket_take_every_datagram_once() {
    on_both(|| async {
        const TASKS: usize = 6;
        const EACH: usize = 500;
        let (left, right) = pair();
        let (left, right) = (Arc::new(left), Arc::new(right));
        let sum = Arc::<AtomicUsize>::default();
        let receivers: Vec<_> = (0..TASKS)
            .map(|_| {
                let (right, sum) = (right.clone(), sum.clone());
                gmp_exec::spawn(async move {
                    for _ in 0..EACH {
                        let mut buf = [0; 8];
                        assert_eq!(right.recv(&mut buf).await.expect("received"), 8);
                        sum.fetch_add(usize::from_ne_bytes(buf), SeqCst);
                    }
                })
            })
            .collect();
        let senders: Vec<_> = (0..TASKS)
            .map(|task| {
                let left = left.clone();
                gmp_exec::spawn(async move {
                    for i in 0..EACH {
                        left.send(&(task * EACH + i).to_ne_bytes()).await.expect("sent");
                    }
                })
            })
            .collect();
        for task in receivers.into_iter().chain(senders) {
            task.await.expect("a task");
        }
        let count = TASKS * EACH;
        assert_eq!(sum.load(SeqCst), count * (count - 1) / 2);
    });
}

#[test]
fn a_peer_that_is_gone_refuses() {
    on_both(|| async {
        let (left, right) = pair();
        drop(right);
        let error = eventually(async || left.send(b"x").await.err()).await;
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "no peer");
        let (_directory, here, there) = places();
        let client = UnixDatagram::bind(&here).expect("bound");
        assert_eq!(client.send_to(b"x", &there).await.expect_err("no file").kind(), ErrorKind::NotFound);
        assert_eq!(UnixDatagram::bind(&here).expect_err("taken").kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn a_shutdown_wakes_receivers_and_stops_senders() {
    on_both(|| async {
        let (left, right) = pair();
        let right = Arc::new(right);
        let waiting = {
            let right = right.clone();
            gmp_exec::spawn(async move { right.recv(&mut [0; 4]).await })
        };
        yield_now().await;
        right.shutdown(Shutdown::Both).expect("shut down");
        assert_eq!(waiting.await.expect("the receiver").expect("the end"), 0);
        right.send(b"x").await.expect_err("closed");
        left.send(b"x").await.expect_err("closed");
    });
}

#[test]
fn readiness_and_custom_operations() {
    on_both(|| async {
        let (left, right) = pair();
        assert!(left.writable().now_or_never().is_some(), "a fresh pair has room");
        assert!(right.readable().now_or_never().is_none());
        assert!(left.ready(Interest::WRITABLE).await.expect("ready").is_writable());
        left.try_io(Interest::WRITABLE, || Ok(rustix::io::write(&left, b"abc")?)).expect("written");
        let n = right.async_io(Interest::READABLE, || Ok(rustix::io::read(&right, &mut [0; 8][..])?)).await;
        assert_eq!(n.expect("read"), 3);
        assert!(left.take_error().expect("asked").is_none());
    });
}

#[test]
fn a_socket_goes_to_the_standard_library_and_back() {
    on_both(|| async {
        let (left, right) = pair();
        let left = left.into_std().expect("a std socket");
        left.send(b"a").expect("sent");
        let left = UnixDatagram::try_from(left).expect("registered again");
        left.send(b"b").await.expect("sent");
        let mut received = Vec::with_capacity(2);
        right.recv_buf(&mut received).await.expect("received");
        right.recv_buf(&mut received).await.expect("received");
        assert_eq!(received, b"ab");
        assert!(format!("{left:?}").starts_with("UnixDatagram"));
    });
}
