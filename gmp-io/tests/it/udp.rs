//! UDP over the loopback interface, where nothing that is sent gets lost unless the receiver's buffer is full.

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};

use bytes::BufMut;
use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::{Interest, ReadBuf};
use gmp_io::net::UdpSocket;

use crate::support::{Count, current_thread, eventually, on_both};

pub(crate) async fn bind() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.expect("a socket")
}

pub(crate) fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().expect("an address")
}

/// Two sockets that talk to each other only.
pub(crate) async fn pair() -> (UdpSocket, UdpSocket) {
    let (a, b) = (bind().await, bind().await);
    a.connect(address(&b)).await.expect("connected");
    b.connect(address(&a)).await.expect("connected");
    (a, b)
}

/// Tries until it isn't `WouldBlock`, waiting in between.
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
        // That were all of them, and now there is indeed nothing.
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
fn a_connected_socket_hears_nobody_else() {
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
fn that_nobody_is_there_is_an_error_once() {
    on_both(|| async {
        let (a, b) = pair().await;
        // It hears nobody but itself. A child that another test starts could keep it, if it were dropped instead.
        b.connect(address(&b)).await.expect("connected");
        a.send(b"anybody?").await.expect("sent");
        let error = a.recv(&mut [0; 4]).await.expect_err("nobody");
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
fn after_an_error_a_socket_without_room_is_waited_for() {
    on_both(|| async {
        let (a, b) = pair().await;
        // It hears nobody but itself.
        b.connect(address(&b)).await.expect("connected");
        a.send(b"anybody?").await.expect("sent");
        a.ready(Interest::ERROR).await.expect("ready");
        a.take_error().expect("asked").expect("an error");
        // That what was sent is gone may come as an event of its own.
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
fn a_receive_that_is_given_up_loses_no_datagram() {
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
fn own_operations_wait_like_the_built_in_ones() {
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
        // It isn't run while the socket is known not to be readable: that may take until the last event has come.
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

/// 128 units, and each operation takes one. The datagram that is received again and again stays there, so that nothing has
/// to be waited for but the budget; what is sent beyond the receiver's buffer is thrown away by the system.
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
        let error = socket.send_to(b"x", nothing).await.expect_err("nobody to send to");
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
            // That takes a privilege which binding, on newer systems, does not.
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
fn members_of_a_group_hear_what_is_sent_to_it() {
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
