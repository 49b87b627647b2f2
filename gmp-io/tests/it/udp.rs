//! UDP over the loopback interface, where datagrams are only lost if the receiver's buffer is full.

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll};

use bytes::BufMut;
use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::{Interest, ReadBuf, Ready};
use gmp_io::net::UdpSocket;

use crate::support::{Count, eventually, on_both};

pub(crate) async fn bind() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.expect("a socket")
}

pub(crate) fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().expect("an address")
}

/// Two sockets that are connected to each other.
pub(crate) async fn pair() -> (UdpSocket, UdpSocket) {
    let (a, b) = (bind().await, bind().await);
    a.connect(address(&b)).await.expect("connected");
    b.connect(address(&a)).await.expect("connected");
    (a, b)
}

/// Repeats until the result isn't `WouldBlock`, waiting in between.
async fn when_readable<R>(socket: &UdpSocket, mut attempt: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        socket.readable().await?;
        match attempt() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
}

#[test]
fn connected_sockets_exchange_datagrams_in_every_way() {
    on_both(|| async {
        let (a, b) = pair().await;
        let mut buf = [0; 16];

        assert_eq!(a.send(b"async").await.expect("sent"), 5);
        let n = b.recv(&mut buf).await.expect("received");
        assert_eq!(&buf[..n], b"async");

        assert_eq!(poll_fn(|cx| a.poll_send(cx, b"poll")).await.expect("sent"), 4);
        let mut received = ReadBuf::new(&mut buf);
        received.put_slice(b">");
        poll_fn(|cx| b.poll_recv(cx, &mut received)).await.expect("received");
        assert_eq!(received.filled(), b">poll");

        assert_eq!(a.try_send(b"try").expect("room"), 3);
        let n = when_readable(&b, || b.try_recv(&mut buf)).await.expect("received");
        assert_eq!(&buf[..n], b"try");

        let mut growing = b">".to_vec();
        a.send(b"one").await.expect("sent");
        assert_eq!(b.recv_buf(&mut growing).await.expect("received"), 3);
        a.send(b"two").await.expect("sent");
        assert_eq!(when_readable(&b, || b.try_recv_buf(&mut growing)).await.expect("received"), 3);
        assert_eq!(growing, b">onetwo");
    });
}

#[test]
fn unconnected_sockets_name_the_other_side_in_every_way() {
    on_both(|| async {
        let (a, b) = (bind().await, bind().await);
        let (from, to) = (address(&a), address(&b));
        let mut buf = [0; 16];

        assert_eq!(a.send_to(b"async", to).await.expect("sent"), 5);
        assert_eq!(b.recv_from(&mut buf).await.expect("received"), (5, from));
        assert_eq!(&buf[..5], b"async");

        assert_eq!(poll_fn(|cx| a.poll_send_to(cx, b"poll", to)).await.expect("sent"), 4);
        let mut received = ReadBuf::new(&mut buf);
        received.put_slice(b">");
        assert_eq!(poll_fn(|cx| b.poll_recv_from(cx, &mut received)).await.expect("received"), from);
        assert_eq!(received.filled(), b">poll");

        assert_eq!(a.try_send_to(b"try", to).expect("room"), 3);
        assert_eq!(when_readable(&b, || b.try_recv_from(&mut buf)).await.expect("received"), (3, from));
        assert_eq!(&buf[..3], b"try");

        let mut growing = b">".to_vec();
        a.send_to(b"one", to).await.expect("sent");
        assert_eq!(b.recv_buf_from(&mut growing).await.expect("received"), (3, from));
        a.send_to(b"two", to).await.expect("sent");
        assert_eq!(when_readable(&b, || b.try_recv_buf_from(&mut growing)).await.expect("received"), (3, from));
        assert_eq!(growing, b">onetwo");
    });
}

#[test]
fn peeking_leaves_the_datagram_in_every_way() {
    on_both(|| async {
        let (a, b) = pair().await;
        let from = address(&a);
        let mut buf = [0; 16];
        a.send(b"first").await.expect("sent");
        a.send(b"second").await.expect("sent");

        assert_eq!(b.peek(&mut buf).await.expect("there"), 5);
        assert_eq!(b.try_peek(&mut buf[..2]).expect("there"), 2);
        assert_eq!(b.peek_from(&mut buf).await.expect("there"), (5, from));
        assert_eq!(b.try_peek_from(&mut buf).expect("there"), (5, from));
        assert_eq!(b.peek_sender().await.expect("there"), from);
        assert_eq!(poll_fn(|cx| b.poll_peek_sender(cx)).await.expect("there"), from);
        assert_eq!(b.try_peek_sender().expect("there"), from);
        assert_eq!(&buf[..5], b"first");

        let mut peeked = ReadBuf::new(&mut buf);
        poll_fn(|cx| b.poll_peek(cx, &mut peeked)).await.expect("there");
        assert_eq!(poll_fn(|cx| b.poll_peek_from(cx, &mut peeked)).await.expect("there"), from);
        assert_eq!(peeked.filled(), b"firstfirst");

        assert_eq!(b.recv(&mut buf).await.expect("received"), 5);
        assert_eq!(b.recv(&mut buf).await.expect("received"), 6);
    });
}

#[test]
fn a_datagram_of_no_bytes_is_not_nothing() {
    on_both(|| async {
        let (a, b) = pair().await;
        let from = address(&a);
        let mut buf = [1; 4];
        for _ in 0..8 {
            assert_eq!(a.send(b"").await.expect("sent"), 0);
        }
        assert_eq!(b.peek(&mut buf).await.expect("there"), 0);
        assert_eq!(b.peek_sender().await.expect("there"), from);
        assert_eq!(b.recv(&mut buf).await.expect("received"), 0);
        assert_eq!(b.recv_from(&mut buf).await.expect("received"), (0, from));
        assert_eq!(when_readable(&b, || b.try_recv(&mut buf)).await.expect("received"), 0);
        assert_eq!(when_readable(&b, || b.try_recv_from(&mut buf)).await.expect("received"), (0, from));
        let mut received = ReadBuf::new(&mut buf);
        poll_fn(|cx| b.poll_recv(cx, &mut received)).await.expect("received");
        assert_eq!(poll_fn(|cx| b.poll_recv_from(cx, &mut received)).await.expect("received"), from);
        assert!(received.filled().is_empty());
        let mut growing = Vec::with_capacity(4);
        assert_eq!(b.recv_buf(&mut growing).await.expect("received"), 0);
        assert_eq!(b.recv_buf_from(&mut growing).await.expect("received"), (0, from));
        // Those were all datagrams.
        assert_eq!(b.try_recv(&mut buf).expect_err("nothing").kind(), ErrorKind::WouldBlock);
        assert!(b.recv(&mut buf).now_or_never().is_none());
    });
}

#[test]
fn what_does_not_fit_is_thrown_away() {
    on_both(|| async {
        let (a, b) = pair().await;
        for _ in 0..4 {
            a.send(b"too long").await.expect("sent");
        }
        a.send(b"next").await.expect("sent");
        let mut small = [0; 3];
        assert_eq!(b.recv(&mut small).await.expect("received"), 3);
        assert_eq!(&small, b"too");
        assert_eq!(b.recv(&mut []).await.expect("received"), 0);
        let mut limited = Vec::new().limit(5);
        limited.get_mut().reserve(100);
        assert_eq!(b.recv_buf(&mut limited).await.expect("received"), 5);
        let mut received = ReadBuf::new(&mut small);
        poll_fn(|cx| b.poll_recv_from(cx, &mut received)).await.expect("received");
        assert_eq!(received.filled(), b"too");
        let mut all = Vec::with_capacity(64);
        b.recv_buf(&mut all).await.expect("received");
        assert_eq!(all, b"next");
    });
}

#[test]
fn too_long_a_datagram_is_an_error() {
    on_both(|| async {
        let (a, b) = pair().await;
        let error = a.send(&[0; 70_000]).await.expect_err("longer than any datagram");
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::MSGSIZE.raw_os_error()));
        assert_eq!(a.send(&[0; 65_000]).await.expect("sent"), 65_000);
        assert_eq!(b.recv(&mut vec![0; 70_000]).await.expect("received"), 65_000);
    });
}

#[test]
fn trying_without_a_datagram_would_block() {
    on_both(|| async {
        let (_a, b) = pair().await;
        let mut buf = [0; 4];
        let outcomes = [
            b.try_recv(&mut buf).map(drop),
            b.try_recv_from(&mut buf).map(drop),
            b.try_recv_buf(&mut Vec::new()).map(drop),
            b.try_recv_buf_from(&mut Vec::new()).map(drop),
            b.try_peek(&mut buf).map(drop),
            b.try_peek_from(&mut buf).map(drop),
            b.try_peek_sender().map(drop),
        ];
        for outcome in outcomes {
            assert_eq!(outcome.expect_err("nothing there").kind(), ErrorKind::WouldBlock);
        }
    });
}

#[test]
fn a_connected_socket_receives_only_from_its_peer() {
    on_both(|| async {
        let (a, b) = pair().await;
        let stranger = bind().await;
        stranger.send_to(b"hello?", address(&b)).await.expect("sent");
        a.send(b"hello").await.expect("sent");
        let mut buf = [0; 16];
        assert_eq!(b.recv_from(&mut buf).await.expect("received"), (5, address(&a)));
        assert_eq!(b.peer_addr().expect("connected"), address(&a));

        b.connect(address(&stranger)).await.expect("connected to another one");
        a.send(b"still there?").await.expect("sent");
        stranger.send_to(b"me", address(&b)).await.expect("sent");
        assert_eq!(b.recv_from(&mut buf).await.expect("received"), (2, address(&stranger)));
        assert_eq!(stranger.peer_addr().expect_err("never connected").kind(), ErrorKind::NotConnected);
    });
}

#[test]
fn a_missing_peer_is_an_error_once() {
    on_both(|| async {
        let (a, b) = pair().await;
        // It only receives from itself. A child that another test starts could keep it open, if it
        // were dropped instead.
        b.connect(address(&b)).await.expect("connected");
        a.send(b"anybody?").await.expect("sent");
        let error = a.recv(&mut [0; 4]).await.expect_err("no peer");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(a.take_error().expect("asked").is_none(), "it has been reported");
        assert!(a.recv(&mut [0; 4]).now_or_never().is_none());

        a.send(b"anybody now?").await.expect("sent");
        a.ready(Interest::ERROR).await.expect("ready");
        let stored = a.take_error().expect("asked").expect("an error");
        assert_eq!(stored.kind(), ErrorKind::ConnectionRefused);

        b.connect(address(&a)).await.expect("connected again");
        a.send(b"hello").await.expect("sent");
        assert_eq!(b.recv(&mut [0; 8]).await.expect("received"), 5);
        b.send(b"hello yourself").await.expect("sent");
        assert_eq!(a.recv(&mut [0; 32]).await.expect("received"), 14);

        let free = address(&b);
        drop(b);
        eventually(async || UdpSocket::bind(free).await.ok()).await;
    });
}

#[test]
fn a_missing_peer_does_not_end_a_wait_for_a_datagram() {
    on_both(|| async {
        let (a, b) = pair().await;
        // It only receives from itself.
        b.connect(address(&b)).await.expect("connected");
        a.send(b"anybody?").await.expect("sent");
        assert_eq!(a.ready(Interest::READABLE | Interest::ERROR).await.expect("ready"), Ready::ERROR);
        assert!(a.readable().now_or_never().is_none());
        let mut buf = [0; 4];
        assert!(poll_fn(|cx| a.poll_recv(cx, &mut ReadBuf::new(&mut buf))).now_or_never().is_none());
        assert_eq!(a.try_recv(&mut buf).expect_err("no datagram").kind(), ErrorKind::WouldBlock);
        let error = a.recv(&mut buf).await.expect_err("no peer");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn after_an_error_a_socket_without_room_is_waited_for() {
    on_both(|| async {
        let (a, b) = pair().await;
        // It only receives from itself.
        b.connect(address(&b)).await.expect("connected");
        a.send(b"anybody?").await.expect("sent");
        a.ready(Interest::ERROR).await.expect("ready");
        a.take_error().expect("asked").expect("an error");
        // That the sent data has left may be an event of its own.
        eventually(async || {
            a.try_io(Interest::WRITABLE, || Err::<(), _>(ErrorKind::WouldBlock.into())).expect_err("no room");
            a.writable().now_or_never().is_none().then_some(())
        })
        .await;
    });
}

#[test]
fn a_shared_socket_sends_and_receives_at_the_same_time() {
    on_both(|| async {
        const SENDERS: usize = 4;
        const EACH: usize = 200;
        let server = Arc::new(bind().await);
        let address = address(&server);
        let echoes: Vec<_> = (0..2)
            .map(|_| {
                let server = server.clone();
                gmp_exec::spawn(async move {
                    loop {
                        let mut buf = [0; 8];
                        let (n, peer) = server.recv_from(&mut buf).await.expect("received");
                        server.send_to(&buf[..n], peer).await.expect("sent");
                    }
                })
            })
            .collect();
        let clients: Vec<_> = (0..SENDERS)
            .map(|client| {
                gmp_exec::spawn(async move {
                    let socket = bind().await;
                    socket.connect(address).await.expect("connected");
                    for round in 0..EACH {
                        let message = [client as u8, round as u8];
                        socket.send(&message).await.expect("sent");
                        let mut answer = [0; 8];
                        assert_eq!(socket.recv(&mut answer).await.expect("received"), 2);
                        assert_eq!(answer[..2], message);
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("a client");
        }
        for echo in echoes {
            echo.abort();
        }
    });
}

#[test]
fn a_cancelled_receive_loses_no_datagram() {
    on_both(|| async {
        let (a, b) = pair().await;
        let mut buf = [0; 4];
        for byte in 0..20 {
            assert!(b.recv(&mut buf).now_or_never().is_none());
            assert!(b.peek_sender().now_or_never().is_none());
            a.send(&[byte]).await.expect("sent");
            assert_eq!(b.recv(&mut buf).await.expect("received"), 1);
            assert_eq!(buf[0], byte);
        }
    });
}

#[test]
fn readiness_is_waited_for_in_both_directions() {
    on_both(|| async {
        let (a, b) = pair().await;
        a.writable().await.expect("writable");
        poll_fn(|cx| a.poll_send_ready(cx)).await.expect("writable");
        assert!(a.ready(Interest::READABLE | Interest::WRITABLE).await.expect("ready").is_writable());

        let count = Arc::<Count>::default();
        assert!(b.poll_recv_ready(&mut Context::from_waker(&count.waker())).is_pending());
        let mut waiting = Box::pin(b.readable());
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        a.send(b"x").await.expect("sent");
        while count.get() < 2 {
            yield_now().await;
        }
        waiting.await.expect("readable");
        poll_fn(|cx| b.poll_recv_ready(cx)).await.expect("readable");
        assert!(b.ready(Interest::READABLE | Interest::WRITABLE).await.expect("ready").is_readable());
    });
}

#[test]
fn custom_operations_wait_like_the_built_in_ones() {
    on_both(|| async {
        let (a, b) = pair().await;
        let receive = |buf: &mut [u8]| {
            let (_, n) = rustix::net::recv(&b, buf, rustix::net::RecvFlags::empty())?;
            Ok(n)
        };
        let mut buf = [0; 8];
        let sending = async {
            yield_now().await;
            a.send(b"one").await
        };
        let (received, _) = tokio::join!(b.async_io(Interest::READABLE, || receive(&mut buf)), sending);
        assert_eq!(received.expect("received"), 3);

        a.send(b"four").await.expect("sent");
        let attempt = || b.try_io(Interest::READABLE, || receive(&mut buf));
        assert_eq!(when_readable(&b, attempt).await.expect("received"), 4);
        assert_eq!(
            b.try_io(Interest::READABLE, || receive(&mut buf)).expect_err("empty").kind(),
            ErrorKind::WouldBlock
        );
        // The operation isn't run while the socket is known not to be readable: that may take until
        // the last event has arrived.
        eventually(async || {
            let mut was_run = false;
            let attempt = b.try_io(Interest::READABLE, || {
                was_run = true;
                receive(&mut buf)
            });
            assert_eq!(attempt.expect_err("not ready").kind(), ErrorKind::WouldBlock);
            (!was_run).then_some(())
        })
        .await;
    });
}

/// The budget is 128 units, and each operation takes one. The datagram is received again and again
/// by peeking, so that only the budget makes the task wait; datagrams beyond the receiver's buffer
/// are discarded by the system.
#[test]
fn a_task_that_sends_and_receives_yields_when_its_budget_is_used_up() {
    const ROUNDS: usize = 1024;
    on_both(|| async {
        let (a, b) = pair().await;
        let polls = Arc::<AtomicUsize>::default();
        let counted = polls.clone();
        let mut task = Box::pin(async move {
            a.send(b"x").await.expect("sent");
            b.readable().await.expect("readable");
            yield_now().await;
            let before = polls.load(SeqCst);
            for _ in 0..ROUNDS {
                a.send(b"x").await.expect("sent");
                assert_eq!(b.peek(&mut [0; 4]).await.expect("received"), 1);
            }
            polls.load(SeqCst) - before
        });
        let task = gmp_exec::spawn(poll_fn(move |cx| {
            counted.fetch_add(1, SeqCst);
            task.as_mut().poll(cx)
        }));
        let yields = task.await.expect("the task");
        assert_eq!(yields, ROUNDS * 2 / 128 - 1, "none is needed after the last one");
    });
}

#[test]
fn polling_takes_as_much_of_the_budget_as_waiting() {
    on_both(|| async {
        let (a, b) = pair().await;
        gmp_exec::spawn(async move {
            a.send(b"x").await.expect("sent");
            b.readable().await.expect("readable");
            yield_now().await;
            let mut peeked = 0;
            poll_fn(|cx| {
                while b.poll_peek_sender(cx).is_ready() {
                    peeked += 1;
                }
                Poll::Ready(())
            })
            .await;
            assert_eq!(peeked, 128);
        })
        .await
        .expect("the task");
    });
}
