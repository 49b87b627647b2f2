//! Readiness under concurrency: every waiter is woken, and only by its own events.

use std::future::Future;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use futures::FutureExt;
use gmp_exec::task::yield_now;
use gmp_io::io::Interest;
use gmp_io::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{listen, multi_thread, on_both, pair, settle, within_deadline};

#[test]
fn many_waiters_on_one_stream_are_all_woken() {
    on_both(|| async {
        const WAITERS: usize = 200;
        let (mut client, server) = pair().await;
        settle(&server).await;
        let server = Arc::new(server);
        let waiting = Arc::<AtomicUsize>::default();
        let waiters: Vec<_> = (0..WAITERS)
            .map(|_| {
                let (server, waiting) = (server.clone(), waiting.clone());
                gmp_exec::spawn(async move {
                    waiting.fetch_add(1, SeqCst);
                    server.readable().await
                })
            })
            .collect();
        while waiting.load(SeqCst) < WAITERS {
            yield_now().await;
        }
        client.write_all(b"x").await.expect("written");
        for waiter in waiters {
            waiter.await.expect("a waiter").expect("readable");
        }
    });
}

/// Every byte is read by exactly one of the competing tasks, and none of the tasks is left waiting.
#[test]
fn tasks_that_share_a_stream_take_every_byte_once() {
    on_both(|| async {
        const TASKS: usize = 8;
        const BYTES: usize = 4_000;
        let (mut client, server) = pair().await;
        let server = Arc::new(server);
        let taken = Arc::<AtomicUsize>::default();
        let readers: Vec<_> = (0..TASKS)
            .map(|_| {
                let (server, taken) = (server.clone(), taken.clone());
                gmp_exec::spawn(async move {
                    loop {
                        server.readable().await.expect("readable");
                        match server.try_read(&mut [0; 3]) {
                            Ok(0) => break,
                            Ok(n) => drop(taken.fetch_add(n, SeqCst)),
                            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                        }
                    }
                })
            })
            .collect();
        for _ in 0..BYTES / 4 {
            client.write_all(b"abcd").await.expect("written");
            yield_now().await;
        }
        drop(client);
        for reader in readers {
            reader.await.expect("a reader");
        }
        assert_eq!(taken.load(SeqCst), BYTES);
    });
}

/// A short read clears the readiness. If that erased the edge of a byte that arrived meanwhile, the
/// reader would wait without end.
#[test]
fn ping_pong_never_loses_an_edge() {
    on_both(|| async {
        const ROUNDS: usize = 2_000;
        let (mut client, mut server) = pair().await;
        let echo = gmp_exec::spawn(async move {
            let mut buf = [0; 64];
            loop {
                match server.read(&mut buf).await.expect("read") {
                    0 => break,
                    n => server.write_all(&buf[..n]).await.expect("written"),
                }
            }
        });
        for round in 0..ROUNDS {
            client.write_all(&[round as u8]).await.expect("written");
            assert_eq!(client.read_u8().await.expect("read"), round as u8);
        }
        drop(client);
        echo.await.expect("the echo");
    });
}

/// Sockets are opened and closed on all threads, so that entries and descriptors are reused while
/// events are pending. An event that reached the wrong socket would at worst be a spurious wake-up;
/// one that was lost with the old socket would hang the new one.
#[test]
fn sockets_that_come_and_go_keep_their_events() {
    on_both(|| async {
        const TASKS: usize = 8;
        const EACH: usize = 50;
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        let server = gmp_exec::spawn(async move {
            for _ in 0..TASKS * EACH {
                let (mut stream, _) = listener.accept().await.expect("accepted");
                gmp_exec::spawn(async move {
                    let byte = stream.read_u8().await.expect("read");
                    stream.write_u8(byte).await.expect("written");
                });
            }
        });
        let clients: Vec<_> = (0..TASKS)
            .map(|task| {
                gmp_exec::spawn(async move {
                    for _ in 0..EACH {
                        let mut stream = TcpStream::connect(address).await.expect("connected");
                        yield_now().await;
                        stream.write_u8(task as u8).await.expect("written");
                        assert_eq!(stream.read_u8().await.expect("read"), task as u8);
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("a client");
        }
        server.await.expect("the server");
    });
}

#[test]
fn a_task_that_is_dropped_while_it_waits_frees_its_socket() {
    on_both(|| async {
        let (client, mut server) = pair().await;
        let waiting = gmp_exec::spawn(async move { client.ready(Interest::READABLE).await });
        yield_now().await;
        waiting.abort();
        waiting.await.expect_err("aborted");
        assert_eq!(server.read(&mut [0; 4]).await.expect("read"), 0, "the peer sees the end");
    });
}

#[test]
fn a_runtime_that_is_gone_is_an_error() {
    let runtime = multi_thread();
    let (client, _server) = runtime.block_on(pair());
    drop(runtime);
    let other = multi_thread();
    let error = other.block_on(within_deadline(client.readable())).expect_err("its reactor is gone");
    assert_eq!(error.to_string(), "A Tokio 1.x context was found, but it is being shutdown.");
    assert_eq!(error.kind(), ErrorKind::Other);
}

#[test]
fn a_runtime_that_ends_wakes_waiters_of_other_runtimes() {
    let runtime = multi_thread();
    let (client, _server) = runtime.block_on(pair());
    let (sender, receiver) = std::sync::mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let mut wait = Box::pin(client.readable());
        futures::executor::block_on(futures::future::poll_fn(|cx| {
            let poll = wait.as_mut().poll(cx);
            let _ = sender.send(());
            poll
        }))
    });
    receiver.recv().expect("it waits");
    drop(runtime);
    let error = waiter.join().expect("the waiter").expect_err("the reactor is gone");
    assert_eq!(error.to_string(), "A Tokio 1.x context was found, but it is being shutdown.");
}

/// "Closed" stays, whatever an operation returns.
#[test]
fn an_operation_that_is_ready_and_would_block_again_and_again_lets_others_run() {
    on_both(|| async {
        const ATTEMPTS: usize = 1_000;
        let (client, server) = pair().await;
        drop(client);
        while !server.ready(Interest::READABLE).await.expect("ready").is_read_closed() {
            server.try_io(Interest::READABLE, || Err::<(), _>(ErrorKind::WouldBlock.into())).expect_err("would block");
        }
        let mut attempts = 0;
        let mut operation = std::pin::pin!(server.async_io(Interest::READABLE, || {
            attempts += 1;
            if attempts < ATTEMPTS { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
        }));
        assert!(operation.as_mut().now_or_never().is_none(), "it yields in between");
        operation.await.expect("done in the end");
    });
}
