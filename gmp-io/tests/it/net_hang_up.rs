//! The other side goes away: tasks that wait are woken, and without such tasks nothing spins.

use std::io::ErrorKind;
use std::thread;

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::{Interest, Ready};
use gmp_io::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::async_fd::register;
use crate::reactor_idle::assert_quiet;
use crate::support::{in_child, multi_thread, on_both, pair, settle, within_deadline};
use crate::udp;

/// Makes the peer's end of the connection fail instead of end.
fn reset(stream: TcpStream) {
    stream.set_zero_linger().expect("set");
    drop(stream);
}

/// Writes until there is no more room.
async fn fill(stream: &TcpStream) {
    stream.writable().await.expect("writable");
    while stream.try_write(&[0; 65_536]).is_ok() {}
}

#[test]
fn a_reset_ends_reading_and_writing_for_all_waiters() {
    on_both(|| async {
        let (client, server) = pair().await;
        fill(&server).await;
        let (mut reader, mut writer) = server.into_split();
        let reading = gmp_exec::spawn(async move { reader.read(&mut [0; 16]).await });
        // There may be room once more, when the data has been acknowledged.
        let writing = gmp_exec::spawn(async move {
            while writer.write(&[0; 65_536]).await? > 0 {}
            Ok(0)
        });
        yield_now().await;
        reset(client);
        let outcomes = [reading.await.expect("the reader"), writing.await.expect("the writer")];
        // One of the two gets the error itself; for the other one the connection is just closed.
        let kinds = outcomes.each_ref().map(|outcome| outcome.as_ref().map_err(std::io::Error::kind));
        assert!(kinds.contains(&Err(ErrorKind::ConnectionReset)), "{kinds:?}");
        assert!(matches!(kinds[0], Err(ErrorKind::ConnectionReset) | Ok(0)), "{kinds:?}");
        assert!(matches!(kinds[1], Err(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)), "{kinds:?}");
    });
}

#[test]
fn after_a_reset_every_operation_answers_at_once() {
    on_both(|| async {
        let (client, mut server) = pair().await;
        reset(client);
        assert_eq!(server.read(&mut [0; 4]).await.expect_err("reset").kind(), ErrorKind::ConnectionReset);
        for _ in 0..3 {
            assert_eq!(server.read(&mut [0; 4]).await.expect("over"), 0);
            assert_eq!(server.write(b"x").await.expect_err("over").kind(), ErrorKind::BrokenPipe);
        }
        // The event may come later than the error, which the first read found by itself.
        let closed = |ready: Ready| ready.is_read_closed() && ready.is_write_closed();
        while !closed(server.ready(Interest::READABLE | Interest::WRITABLE).await.expect("ready")) {
            yield_now().await;
        }
    });
}

#[test]
fn a_half_closed_connection_goes_on_in_the_other_direction() {
    on_both(|| async {
        const BYTES: usize = 1 << 20;
        let (mut client, mut server) = pair().await;
        client.write_all(b"the end").await.expect("written");
        client.shutdown().await.expect("half closed");
        let mut received = Vec::new();
        server.read_to_end(&mut received).await.expect("read");
        assert_eq!(received, b"the end");
        for _ in 0..3 {
            assert_eq!(server.read(&mut [0; 4]).await.expect("the end stays"), 0);
            assert!(server.ready(Interest::READABLE).await.expect("ready").is_read_closed());
        }

        let writing = gmp_exec::spawn(async move {
            server.write_all(&vec![7; BYTES]).await.expect("written");
            server.shutdown().await.expect("closed");
            server
        });
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.expect("read");
        assert_eq!(received.len(), BYTES);
        let mut server = writing.await.expect("the writer");
        assert_eq!(server.read(&mut [0; 4]).await.expect("still the end"), 0);
        assert_eq!(client.write(b"x").await.expect_err("closed here").kind(), ErrorKind::BrokenPipe);
    });
}

/// Sockets whose other side is gone and that have no reader: the kernel reports it once, and no
/// task has to be woken.
#[test]
#[cfg(target_os = "linux")]
fn a_peer_that_hangs_up_costs_nothing_without_a_reader() {
    in_child("net_hang_up::a_peer_that_hangs_up_costs_nothing_without_a_reader", || {
        let runtime = multi_thread();
        let (send, receive) = std::sync::mpsc::channel();
        let kept = runtime.spawn(within_deadline(async move {
            let (ended, mut half_closed, was_reset) = (pair().await, pair().await, pair().await);
            drop(ended.0);
            half_closed.0.shutdown().await.expect("half closed");
            reset(was_reset.0);
            // A datagram without a receiver: an error that no task fetches.
            let (refused, gone) = udp::pair().await;
            drop(gone);
            refused.send(b"x").await.expect("sent");

            let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
            let reader = register(reader).expect("registered");
            drop(writer);
            let (read_end, writer) = rustix::pipe::pipe().expect("a pipe");
            let writer = register(writer).expect("registered");
            drop(read_end);

            // A task waits, for data that will never come.
            let (_silent, waiting) = pair().await;
            fill(&waiting).await;
            settle(&waiting).await;
            let _ = send.send(());
            let _ = waiting.readable().await;
            (ended.1, half_closed, was_reset.1, refused, reader, writer)
        }));
        receive.recv().expect("set up");
        assert_quiet();
        assert!(kept.now_or_never().is_none(), "everything is still open");
    });
}

/// The reader of a closed connection is busy elsewhere: the end waits for it.
#[test]
fn an_end_that_comes_without_a_reader_is_found_later() {
    on_both(|| async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"bye").await.expect("written");
        drop(client);
        gmp_exec::task::spawn_blocking(thread::yield_now).await.expect("something else");
        let mut received = Vec::new();
        server.read_to_end(&mut received).await.expect("read");
        assert_eq!(received, b"bye");
    });
}
