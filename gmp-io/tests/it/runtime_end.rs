//! No task sees that its runtime ends: pending operations are dropped, and none fails.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use gmp_exec::runtime::Handle;
use gmp_io::net::{TcpListener, TcpStream, UdpSocket};
use gmp_io::process::Command;
use gmp_io::signal::unix::{SignalKind, signal};
use tokio::io::AsyncWriteExt;

use crate::support::{DEADLINE, listen, multi_thread};

/// How long a poll goes on after the runtime has begun to end. A longer time only makes a fault
/// more likely to be seen.
const WHILE: Duration = Duration::from_millis(20);

fn outcome<T>(result: io::Result<T>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "a result".to_owned())
}

/// In a task of a runtime, begins an operation that never ends by itself. While the runtime ends, a
/// poll in progress goes on with it and with others of its kind. Returns the result of the
/// operation.
fn ends_with<F>(operation: impl Fn() -> F + Send + Sync + 'static) -> Option<String>
where
    F: Future<Output = String> + Send + 'static,
{
    let runtime = multi_thread();
    let (begun, is_begun) = mpsc::channel();
    let (ended, has_ended) = mpsc::channel();
    runtime.spawn(async move {
        let mut before = Box::pin(operation());
        poll_fn(move |cx| {
            begun.send(before.as_mut().poll(cx).is_pending()).expect("the test waits");
            while !Handle::current().is_shut_down() {
                std::hint::spin_loop();
            }
            ended.send(go_on(cx, before.as_mut(), &operation)).expect("the test waits");
            Poll::<()>::Pending
        })
        .await;
    });
    assert!(is_begun.recv().expect("the poll has begun"), "the operation waits");
    drop(runtime);
    has_ended.try_recv().expect("the poll has not panicked")
}

fn go_on<F: Future<Output = String>>(
    cx: &mut Context<'_>,
    mut before: Pin<&mut F>,
    operation: impl Fn() -> F,
) -> Option<String> {
    let since = Instant::now();
    while since.elapsed() < WHILE {
        if let Poll::Ready(outcome) = before.as_mut().poll(cx) {
            return Some(format!("one begun before: {outcome}"));
        }
        if let Poll::Ready(outcome) = pin!(operation()).poll(cx) {
            return Some(format!("one begun later: {outcome}"));
        }
    }
    None
}

#[test]
fn accepting_does_not_fail() {
    let accept = || async { outcome(listen().await.accept().await) };
    assert_eq!(ends_with(accept), None);
}

#[test]
fn connecting_does_not_fail() {
    // A listener whose queue is full does not answer.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    rustix::net::listen(&listener, 0).expect("a short queue");
    let address = listener.local_addr().expect("an address");
    let first = std::net::TcpStream::connect(address).expect("the queue has room for one");
    assert_eq!(ends_with(move || async move { outcome(TcpStream::connect(address).await) }), None);
    drop(first);
}

#[test]
fn receiving_does_not_fail() {
    let receive = || async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        outcome(socket.recv_from(&mut [0]).await)
    };
    assert_eq!(ends_with(receive), None);
}

#[test]
fn signals_do_not_end() {
    let receive = || async {
        let mut signals = signal(SignalKind::user_defined1()).expect("a listener");
        signals.recv().await.map_or("the end".to_owned(), |()| "a signal".to_owned())
    };
    assert_eq!(ends_with(receive), None);
}

#[test]
fn waiting_for_a_child_does_not_fail() {
    let wait = || async {
        let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn().expect("a child");
        outcome(child.wait().await)
    };
    assert_eq!(ends_with(wait), None);
}

/// A flush then fails, as on tokio, where a closure is cancelled. But it consumes budget, so the
/// poll of a task that goes on after errors ends. The task begins late, when it has all of its
/// budget.
#[test]
fn a_task_that_goes_on_writing_after_errors_ends() {
    let runtime = multi_thread();
    let (begun, is_begun) = mpsc::channel();
    runtime.spawn(async move {
        begun.send(()).expect("the test waits");
        while !Handle::current().is_shut_down() {
            std::hint::spin_loop();
        }
        loop {
            let _ = gmp_io::io::stderr().flush().await;
        }
    });
    is_begun.recv().expect("the poll has begun");
    let (ended, has_ended) = mpsc::channel();
    std::thread::spawn(move || {
        drop(runtime);
        ended.send(())
    });
    has_ended.recv_timeout(DEADLINE).expect("the poll ends");
}

/// The loop of many servers, which goes on after errors.
#[test]
fn a_server_that_goes_on_after_errors_ends() {
    for _ in 0..300 {
        let runtime = multi_thread();
        let addresses = runtime.block_on(async {
            let mut addresses = Vec::new();
            for _ in 0..2 {
                let listener = listen().await;
                addresses.push(listener.local_addr().expect("an address"));
                gmp_exec::spawn(serve(listener));
            }
            addresses
        });
        let clients = addresses.iter().map(|address| std::net::TcpStream::connect(address).expect("connected"));
        let _clients: Vec<_> = clients.collect();
        drop(runtime);
    }
}

async fn serve(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((connection, _)) => drop(gmp_exec::spawn(echo(connection))),
            Err(_) => continue,
        }
    }
}

async fn echo(mut connection: TcpStream) {
    let (mut read, mut write) = connection.split();
    let _ = tokio::io::copy(&mut read, &mut write).await;
}

/// A thread that is not a task would otherwise wait without end. It gets an error once the last
/// poll has ended.
#[test]
fn those_outside_are_told() {
    let runtime = multi_thread();
    let handle = runtime.handle().clone();
    let (begun, is_begun) = mpsc::channel();
    let waiting = std::thread::spawn(move || {
        handle.block_on(async {
            let listener = listen().await;
            begun.send(()).expect("the test waits");
            outcome(listener.accept().await)
        })
    });
    is_begun.recv().expect("begun");
    drop(runtime);
    assert!(waiting.join().expect("told").contains("being shutdown"));
}
