//! Descriptors run out, a runtime ends, a waker panics.
//!
//! Limits apply to a whole process, so such a test runs in a child process.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_exec::time::{sleep, timeout};
use gmp_io::io::Interest;
use gmp_io::net::{TcpListener, TcpStream, UdpSocket};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::async_fd::register;
use crate::support::{DEADLINE, current_thread, in_child, listen, multi_thread, on_both, settle, within_deadline};
use crate::udp;

// The tests keep all their runtimes to the end: one that ends would free descriptors at the wrong
// time.

/// Holds every descriptor that the process can still have, until it is dropped.
pub(crate) struct NoDescriptors(Vec<File>);

impl NoDescriptors {
    pub(crate) fn left() -> Self {
        // Few enough to be quick, and more than the test has open.
        let limit = Rlimit { current: Some(256), ..getrlimit(Resource::Nofile) };
        setrlimit(Resource::Nofile, limit).expect("lowered");
        let mut all = NoDescriptors(Vec::new());
        all.take_rest();
        all
    }

    /// Takes the descriptors that were freed in the meantime.
    pub(crate) fn take_rest(&mut self) {
        while let Ok(file) = File::open("/dev/null") {
            self.0.push(file);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn accepting_without_descriptors_fails_and_recovers() {
    in_child("reactor_faults::accepting_without_descriptors_fails_and_recovers", || {
        for runtime in &[multi_thread(), current_thread()] {
            runtime.block_on(within_deadline(accept_without_descriptors()));
        }
    });
}

async fn accept_without_descriptors() {
    let listener = listen().await;
    let mut client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");

    let mut none_left = NoDescriptors::left();
    for _ in 0..3 {
        none_left.take_rest();
        // The error is returned at once and every time: the listener stays ready.
        let error = timeout(DEADLINE, listener.accept()).await.expect("an answer").expect_err("no descriptors");
        assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
    }
    drop(none_left);

    let (mut server, _) = listener.accept().await.expect("the connection is still there");
    client.write_all(b"x").await.expect("written");
    assert_eq!(server.read_u8().await.expect("read"), b'x');
    // And the listener notices new connections.
    let connecting = gmp_exec::spawn(TcpStream::connect(listener.local_addr().expect("an address")));
    listener.accept().await.expect("accepted");
    connecting.await.expect("the client").expect("connected");
}

#[test]
#[cfg(target_os = "linux")]
fn a_failing_accept_leaves_the_others_running() {
    in_child("reactor_faults::a_failing_accept_leaves_the_others_running", || {
        for runtime in &[multi_thread(), current_thread()] {
            runtime.block_on(within_deadline(keep_failing_beside_an_echo()));
        }
    });
}

/// A server that ignores accept's errors spins. It must not keep the other tasks of its thread from
/// running.
async fn keep_failing_beside_an_echo() {
    let (mut ping, mut pong) = crate::support::pair().await;
    let listener = listen().await;
    let _waiting = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
    let none_left = NoDescriptors::left();
    let stubborn = gmp_exec::spawn(async move {
        loop {
            listener.accept().await.expect_err("no descriptors");
        }
    });
    for _ in 0..100 {
        ping.write_u8(1).await.expect("written");
        pong.read_u8().await.expect("read");
        sleep(Duration::from_micros(100)).await;
    }
    stubborn.abort();
    let _ = stubborn.await;
    drop(none_left);
}

#[test]
#[cfg(target_os = "linux")]
fn the_first_socket_without_descriptors_is_an_error() {
    in_child("reactor_faults::the_first_socket_without_descriptors_is_an_error", || {
        let runtime = multi_thread();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        listener.set_nonblocking(true).expect("set");
        let none_left = NoDescriptors::left();
        let _guard = runtime.enter();
        // The reactor itself needs descriptors, and there are none. It must neither panic nor
        // remember the error.
        let duplicate = gmp_io::net::TcpListener::from_std(listener).expect_err("no reactor");
        assert_eq!(duplicate.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
        drop(none_left);
        runtime.block_on(within_deadline(async { drop(listen().await) }));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn datagrams_flow_while_there_are_no_descriptors() {
    in_child("reactor_faults::datagrams_flow_while_there_are_no_descriptors", || {
        for runtime in &[multi_thread(), current_thread()] {
            runtime.block_on(within_deadline(exchange_datagrams_without_descriptors()));
        }
    });
}

async fn exchange_datagrams_without_descriptors() {
    let (a, b) = udp::pair().await;
    let pipe = rustix::pipe::pipe().expect("a pipe");
    let mut none_left = NoDescriptors::left();
    for _ in 0..3 {
        none_left.take_rest();
        let error = UdpSocket::bind("127.0.0.1:0").await.expect_err("no descriptors");
        assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
        let error = pipe.0.try_clone().expect_err("no descriptors");
        assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
        // Existing sockets work, and can be registered: that needs no descriptor.
        a.send(b"x").await.expect("sent");
        assert_eq!(b.recv(&mut [0; 4]).await.expect("received"), 1);
        let writer = register(pipe.1.as_fd()).expect("registered");
        let _ = writer.writable().await.expect("writable");
    }
    drop(none_left);
    UdpSocket::bind("127.0.0.1:0").await.expect("descriptors are back");
}

/// A test can't use up the descriptors of the whole system: other processes need them, and the
/// superuser is exempt. But no code here distinguishes errors other than `WouldBlock`, which this
/// test checks: whatever the system has run out of, the error is returned unchanged and the
/// descriptor stays ready, so the next attempt is made at once.
#[test]
fn running_out_of_anything_is_passed_on_and_tried_again() {
    on_both(|| async {
        let (a, b) = udp::pair().await;
        a.send(b"x").await.expect("sent");
        for exhausted in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM] {
            let fail = || io::Result::<()>::Err(exhausted.into());
            let outcomes = [b.async_io(Interest::READABLE, fail).await, b.try_io(Interest::READABLE, fail)];
            for outcome in outcomes {
                assert_eq!(outcome.expect_err("passed on").raw_os_error(), Some(exhausted.raw_os_error()));
            }
            assert!(b.readable().now_or_never().is_some(), "still ready");
        }
        assert_eq!(b.recv(&mut [0; 4]).await.expect("received"), 1);
    });
}

/// Tasks of one runtime wait for sockets of another one, which ends.
#[test]
fn the_end_of_a_runtime_is_an_error_for_tasks_of_another_one() {
    for (theirs, ours) in [(multi_thread(), current_thread()), (current_thread(), multi_thread())] {
        let entered = theirs.enter();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_nonblocking(true).expect("set");
        let foreign = register(socket.try_clone().expect("a second one")).expect("registered");
        let udp = UdpSocket::from_std(socket).expect("registered");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        listener.set_nonblocking(true).expect("set");
        let listener = TcpListener::from_std(listener).expect("registered");
        drop(entered);
        ours.block_on(within_deadline(async {
            let mut buf = [0; 4];
            let ending = async {
                yield_now().await;
                theirs.shutdown_background();
            };
            let (received, readable, accepted, ()) =
                tokio::join!(udp.recv(&mut buf), foreign.readable(), listener.accept(), ending);
            for outcome in [received.map(drop), readable.map(drop), accepted.map(drop)] {
                let error = outcome.expect_err("their reactor is gone");
                assert_eq!(error.to_string(), "A Tokio 1.x context was found, but it is being shutdown.");
                assert_eq!(error.kind(), io::ErrorKind::Other);
            }
            udp.send_to(b"x", "127.0.0.1:9").await.expect_err("not even that");
            udp.into_std().expect("it can be taken back").send_to(b"x", "127.0.0.1:9").expect("and used");
        }));
    }
}

/// A waker of another executor that panics must neither end the thread that polls nor lose events
/// of other tasks.
#[test]
fn a_waker_that_panics_harms_no_other_task() {
    use std::future::Future;
    use std::sync::Arc;
    use std::task::{Context, Wake, Waker};

    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("this waker always panics; the test wants to see what happens");
        }
    }

    for runtime in [multi_thread(), current_thread()] {
        runtime.block_on(within_deadline(async {
            let (mut client, server) = crate::support::pair().await;
            settle(&server).await;
            let mut wait = Box::pin(server.readable());
            let waker = Waker::from(Arc::new(Panics));
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            let other = async {
                server.readable().await.expect("readable");
            };
            let write = async { client.write_all(b"x").await.expect("written") };
            tokio::join!(other, write);
            drop(wait);
            let (mut ping, mut pong) = crate::support::pair().await;
            ping.write_u8(1).await.expect("written");
            assert_eq!(pong.read_u8().await.expect("read"), 1);
        }));
    }
}
