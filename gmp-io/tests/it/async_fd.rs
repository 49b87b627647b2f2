//! The readiness of an `AsyncFd` on socket pairs, eventfds and pipes.

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, Read, Write};
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::unix::{AsyncFd, AsyncFdRegisterError};
use gmp_io::io::{Interest, Ready};

use crate::support::{Count, on_both};

/// The unsafe constructors, for types that are known to keep their descriptor open.
pub(crate) fn register<T: AsFd + AsRawFd>(inner: T) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
    register_for(inner, Interest::READABLE | Interest::WRITABLE)
}

pub(crate) fn register_for<T: AsFd + AsRawFd>(
    inner: T,
    interest: Interest,
) -> Result<AsyncFd<T>, AsyncFdRegisterError<T>> {
    // SAFETY: a type with `AsFd` has an open descriptor for as long as it lives.
    unsafe { AsyncFd::register_with_interest(inner, interest) }
}

/// Two connected sockets, the first one registered.
pub(crate) fn pair() -> (AsyncFd<UnixStream>, UnixStream) {
    let (ours, theirs) = sockets();
    (register(ours).expect("registered"), theirs)
}

pub(crate) fn sockets() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    ours.set_nonblocking(true).expect("set");
    (ours, theirs)
}

pub(crate) fn send(mut socket: &UnixStream, bytes: &[u8]) {
    socket.write_all(bytes).expect("sent");
}

/// Fills the socket so that it is not ready for writing any more, and returns the number of bytes.
async fn fill_and_clear(fd: &AsyncFd<UnixStream>) -> usize {
    let mut guard = fd.writable().await.expect("writable");
    let mut filled = 0;
    while let Ok(n) = fd.get_ref().write(&[0; 4096]) {
        filled += n;
    }
    guard.clear_ready();
    filled
}

fn drain(mut socket: &UnixStream, bytes: usize) {
    io::copy(&mut (&mut socket).take(bytes as u64), &mut io::sink()).expect("read");
}

/// Waits until all pending events have been delivered, because a later one has been.
pub(crate) async fn deliver_events() {
    let (fd, theirs) = pair();
    send(&theirs, b"x");
    let _ = fd.readable().await.expect("readable");
}

#[test]
fn a_new_socket_is_writable_and_not_readable() {
    on_both(|| async {
        let (fd, theirs) = pair();
        let guard = fd.writable().await.expect("writable");
        assert!(guard.ready().is_writable());
        deliver_events().await;
        assert!(fd.readable().now_or_never().is_none());
        send(&theirs, b"x");
        let guard = fd.readable().await.expect("readable");
        assert_eq!(guard.ready(), Ready::READABLE);
    });
}

#[test]
fn readiness_stays_until_it_is_cleared() {
    on_both(|| async {
        let (mut fd, theirs) = pair();
        send(&theirs, b"x");
        for _ in 0..3 {
            fd.readable().await.expect("readable").retain_ready();
            fd.readable_mut().await.expect("readable").retain_ready();
        }
        deliver_events().await;
        fd.readable().await.expect("readable").clear_ready();
        assert!(fd.readable().now_or_never().is_none(), "though the byte is still there");
        send(&theirs, b"y");
        let mut guard = fd.readable_mut().await.expect("readable again");
        guard.clear_ready();
        assert_eq!(guard.ready(), Ready::EMPTY);
        assert!(fd.readable_mut().now_or_never().is_none());
        assert!(fd.writable_mut().now_or_never().is_some(), "the other direction is not concerned");
    });
}

#[test]
fn clearing_a_part_leaves_the_rest() {
    on_both(|| async {
        let both = Interest::READABLE | Interest::WRITABLE;
        let (mut fd, theirs) = pair();
        send(&theirs, b"x");
        let _ = fd.readable().await.expect("readable");
        deliver_events().await;

        let mut guard = fd.ready(both).await.expect("ready");
        assert_eq!(guard.ready(), Ready::READABLE | Ready::WRITABLE);
        guard.clear_ready_matching(Ready::READABLE);
        assert_eq!(guard.ready(), Ready::WRITABLE);
        assert!(fd.readable().now_or_never().is_none());
        assert!(fd.writable().now_or_never().is_some());

        let mut guard = fd.ready_mut(both).await.expect("ready");
        guard.clear_ready_matching(Ready::WRITABLE);
        assert_eq!(guard.ready(), Ready::EMPTY);
        assert!(fd.ready(both).now_or_never().is_none());
    });
}

#[test]
fn clearing_does_not_erase_a_newer_event() {
    on_both(|| async {
        let (fd, theirs) = pair();
        send(&theirs, b"x");
        let mut old = fd.readable().await.expect("readable");
        fd.readable().await.expect("readable").clear_ready();
        send(&theirs, b"y");
        let _new = fd.readable().await.expect("readable again");
        old.clear_ready();
        assert!(fd.readable().now_or_never().is_some());
    });
}

#[test]
fn a_guard_clears_when_its_operation_would_block() {
    on_both(|| async {
        let (mut fd, theirs) = pair();
        let mut buf = [0; 8];
        send(&theirs, b"x");
        deliver_events().await;

        let mut guard = fd.readable().await.expect("readable");
        assert_eq!(guard.try_io(|fd| fd.get_ref().read(&mut buf)).expect("ready").expect("read"), 1);
        let other = guard.try_io(|_| io::Result::<()>::Err(ErrorKind::NotFound.into()));
        assert_eq!(other.expect("no WouldBlock").expect_err("an error").kind(), ErrorKind::NotFound);
        assert!(fd.readable().now_or_never().is_some(), "neither of them clears");
        let mut guard = fd.readable().await.expect("readable");
        assert!(guard.try_io(|fd| fd.get_ref().read(&mut buf)).is_err());
        assert!(fd.readable().now_or_never().is_none());

        send(&theirs, b"y");
        let mut guard = fd.readable_mut().await.expect("readable");
        assert_eq!(guard.get_inner_mut().read(&mut buf).expect("read"), 1);
        assert!(guard.try_io(|fd| fd.get_mut().read(&mut buf)).is_err());
        assert!(fd.readable_mut().now_or_never().is_none());
    });
}

#[test]
fn operations_run_when_the_descriptor_is_ready() {
    on_both(|| async {
        let (mut fd, theirs) = pair();
        let mut buf = [0; 8];
        deliver_events().await;
        let not_run = fd.try_io(Interest::READABLE, |_| -> io::Result<()> { panic!("it is not readable") });
        assert_eq!(not_run.expect_err("not ready").kind(), ErrorKind::WouldBlock);

        let sender = theirs.try_clone().expect("a second one");
        let sending = gmp_exec::spawn(async move {
            yield_now().await;
            send(&sender, b"ab");
        });
        let n = fd.async_io(Interest::READABLE, |mut socket| socket.read(&mut buf)).await.expect("read");
        assert_eq!(&buf[..n], b"ab");
        sending.await.expect("sent");

        send(&theirs, b"cd");
        let n = fd.async_io_mut(Interest::READABLE, |socket| socket.read(&mut buf)).await.expect("read");
        assert_eq!(&buf[..n], b"cd");

        // A failed read takes the readiness away. The event of "cd" may come only after that, and
        // bring it back once.
        loop {
            let error = fd.try_io_mut(Interest::READABLE, |socket| socket.read(&mut buf)).expect_err("drained");
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            if fd.readable().now_or_never().is_none() {
                break;
            }
            yield_now().await;
        }
        fd.try_io_mut(Interest::WRITABLE, |socket| socket.write_all(b"e")).expect("room");
    });
}

#[test]
fn a_full_socket_becomes_writable_when_it_is_drained() {
    on_both(|| async {
        let (fd, theirs) = pair();
        let filled = fill_and_clear(&fd).await;
        deliver_events().await;
        assert!(fd.writable().now_or_never().is_none());
        drain(&theirs, filled);
        let _ = fd.writable().await.expect("room again");
    });
}

#[test]
fn all_waiting_futures_are_woken_but_only_the_last_poller() {
    on_both(|| async {
        const WAITERS: usize = 20;
        let (fd, theirs) = pair();
        let mut waiting: Vec<_> = (0..WAITERS).map(|_| Box::pin(fd.readable())).collect();
        let counts: Vec<_> = (0..WAITERS).map(|_| Arc::<Count>::default()).collect();
        for (wait, count) in waiting.iter_mut().zip(&counts) {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        }
        let [first, last, writer] = [(); 3].map(|()| Arc::<Count>::default());
        for count in [&first, &last] {
            assert!(fd.poll_read_ready(&mut Context::from_waker(&count.waker())).is_pending());
        }
        fill_and_clear(&fd).await;
        assert!(fd.poll_write_ready(&mut Context::from_waker(&writer.waker())).is_pending());

        send(&theirs, b"x");
        while last.get() == 0 || counts.iter().any(|count| count.get() == 0) {
            yield_now().await;
        }
        assert!(waiting.iter_mut().all(|wait| wait.as_mut().now_or_never().is_some()));
        assert_eq!((first.get(), writer.get()), (0, 0));
    });
}

#[test]
fn polling_wakes_and_lends_the_inner_value() {
    on_both(|| async {
        let (mut fd, theirs) = pair();
        let sender = theirs.try_clone().expect("a second one");
        let sending = gmp_exec::spawn(async move { send(&sender, b"x") });
        let mut buf = [0; 1];
        poll_fn(|cx| match fd.poll_read_ready_mut(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(guard) => Poll::Ready(guard.expect("readable").get_inner_mut().read_exact(&mut buf)),
        })
        .await
        .expect("read");
        assert_eq!(&buf, b"x");
        poll_fn(|cx| fd.poll_write_ready_mut(cx).map_ok(|mut guard| guard.retain_ready())).await.expect("writable");
        sending.await.expect("sent");
    });
}

#[test]
fn nothing_beyond_the_interest_is_reported() {
    on_both(|| async {
        let both = Interest::READABLE | Interest::WRITABLE;
        let (ours, theirs) = sockets();
        let fd = register_for(ours, Interest::READABLE).expect("registered");
        send(&theirs, b"x");
        assert_eq!(fd.ready(both).await.expect("ready").ready(), Ready::READABLE);
        let error = fd.try_io(Interest::WRITABLE, |_| Ok(())).expect_err("not known to be writable");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);

        let (ours, theirs) = sockets();
        let fd = register_for(ours, Interest::WRITABLE).expect("registered");
        send(&theirs, b"x");
        deliver_events().await;
        assert_eq!(fd.ready(both).await.expect("ready").ready(), Ready::WRITABLE);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn out_of_band_data_is_a_priority() {
    on_both(|| async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let peer = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (stream, _) = listener.accept().expect("accepted");
        stream.set_nonblocking(true).expect("set");
        let fd = register_for(stream, Interest::PRIORITY).expect("registered");
        (&peer).write_all(b"ordinary").expect("sent");
        deliver_events().await;
        assert!(fd.ready(Interest::PRIORITY).now_or_never().is_none());
        socket2::SockRef::from(&peer).send_out_of_band(b"!").expect("sent");
        let guard = fd.ready(Interest::PRIORITY).await.expect("ready");
        assert_eq!(guard.ready(), Ready::PRIORITY);
    });
}

/// A datagram socket, registered for `interest`, that is connected to one that gets nothing from it. A
/// datagram that is sent comes back as an error.
fn without_a_peer(interest: Interest) -> (AsyncFd<UdpSocket>, UdpSocket) {
    // It only receives from itself, and keeps its port.
    let deaf = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = deaf.local_addr().expect("an address");
    deaf.connect(address).expect("connected");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_nonblocking(true).expect("set");
    socket.connect(address).expect("connected");
    (register_for(socket, interest).expect("registered"), deaf)
}

#[test]
fn an_error_can_be_waited_for_alone() {
    on_both(|| async {
        let (fd, _deaf) = without_a_peer(Interest::ERROR);
        deliver_events().await;
        assert!(fd.ready(Interest::ERROR).now_or_never().is_none());
        fd.get_ref().send(b"is anybody there?").expect("sent");
        let guard = fd.ready(Interest::ERROR).await.expect("an error");
        assert_eq!(guard.ready(), Ready::ERROR);
        assert_eq!(fd.get_ref().recv(&mut [0]).expect_err("no peer").kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn an_error_alone_does_not_make_a_descriptor_readable() {
    on_both(|| async {
        let (fd, _deaf) = without_a_peer(Interest::READABLE | Interest::WRITABLE);
        fd.get_ref().send(b"is anybody there?").expect("sent");
        let guard = fd.ready(Interest::READABLE | Interest::ERROR).await.expect("an error");
        assert_eq!(guard.ready(), Ready::ERROR);
        assert!(fd.readable().now_or_never().is_none());
        assert!(poll_fn(|cx| fd.poll_read_ready(cx).map(drop)).now_or_never().is_none());
        let read = fd.try_io(Interest::READABLE, |socket| socket.recv(&mut [0]));
        assert_eq!(read.expect_err("not readable").kind(), ErrorKind::WouldBlock);
        assert_eq!(fd.get_ref().recv(&mut [0]).expect_err("no peer").kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn an_interest_in_errors_hears_of_data_too() {
    on_both(|| async {
        let (ours, theirs) = sockets();
        let fd = register_for(ours, Interest::WRITABLE | Interest::ERROR).expect("registered");
        send(&theirs, b"x");
        let guard = fd.readable().await.expect("readable");
        assert!(guard.ready().is_readable());
    });
}

#[test]
#[cfg(target_os = "linux")]
fn an_eventfd_counts() {
    use rustix::event::{EventfdFlags, eventfd};

    on_both(|| async {
        let fd = register(eventfd(0, EventfdFlags::NONBLOCK).expect("an eventfd")).expect("registered");
        let other = fd.get_ref().try_clone().expect("a second one");
        let adding = gmp_exec::spawn(async move {
            for _ in 0..100 {
                rustix::io::write(&other, &1_u64.to_ne_bytes()).expect("added");
                yield_now().await;
            }
        });
        let mut sum = 0;
        while sum < 100 {
            let mut count = [0; 8];
            fd.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut count)?)).await.expect("read");
            sum += u64::from_ne_bytes(count);
        }
        adding.await.expect("added");
    });
}

#[test]
fn both_ends_of_a_pipe_notice_that_the_other_one_is_gone() {
    on_both(|| async {
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
        let reader = register_for(reader, Interest::READABLE).expect("registered");
        drop(writer);
        let guard = reader.readable().await.expect("readable");
        assert!(guard.ready().is_read_closed());
        let n = reader.try_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut [0])?)).expect("the end");
        assert_eq!(n, 0);

        let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
        let writer = register_for(writer, Interest::WRITABLE).expect("registered");
        let _ = writer.writable().await.expect("writable");
        drop(reader);
        let guard = writer.ready(Interest::ERROR).await.expect("no reader");
        assert!(guard.ready().is_error());
        let mut guard = writer.writable().await.expect("writable");
        assert!(guard.ready().is_write_closed());
        guard.clear_ready();
        assert!(writer.writable().now_or_never().is_some(), "closed is final");
    });
}

#[test]
fn waiting_consumes_the_budget_where_tokio_does() {
    on_both(|| async {
        let (fd, _theirs) = pair();
        let _ = fd.writable().await.expect("writable");
        gmp_exec::spawn(async move {
            let mut ready = 0;
            poll_fn(|cx| {
                while fd.poll_write_ready(cx).is_ready() {
                    ready += 1;
                }
                Poll::Ready(())
            })
            .await;
            assert_eq!(ready, 128);

            yield_now().await;
            let mut wrote = 0;
            while fd.async_io(Interest::WRITABLE, |_| Ok(())).now_or_never().is_some() {
                wrote += 1;
            }
            assert_eq!(wrote, 128);
            // An operation that only waits, and leaves the rest to the caller, costs nothing.
            for _ in 0..1_000 {
                let _ = fd.writable().now_or_never().expect("ready").expect("writable");
            }
        })
        .await
        .expect("the task");
    });
}
