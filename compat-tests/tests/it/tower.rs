//! tower's middleware around a service that sends requests over a socket.
//!
//! The parts of tower that sleep (`Timeout`, `RateLimit`, `Hedge`, backoff) use tokio's timers and
//! need the drop-in.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gmp_io::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Mutex, Semaphore};
use tower::buffer::Buffer;
use tower::load_shed::error::Overloaded;
use tower::retry::Policy;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::support::{connect, on_gmp, serve, tells_dropped};

/// The other end of a connection doubles numbers.
async fn doubler() -> TcpStream {
    let address = serve(|mut stream| async move {
        while let Ok(number) = stream.read_u32().await {
            stream.write_u32(2 * number).await.expect("written");
        }
    });
    connect(address.await).await
}

/// One question at a time on one connection.
async fn double(stream: Arc<Mutex<TcpStream>>, number: u32) -> io::Result<u32> {
    let mut stream = stream.lock().await;
    stream.write_u32(number).await?;
    stream.read_u32().await
}

#[test]
fn layers_are_put_around_a_service() {
    on_gmp(|| async {
        let stream = Arc::new(Mutex::new(doubler().await));
        let mut service = ServiceBuilder::new()
            .concurrency_limit(4)
            .map_request(|text: &str| text.parse().expect("a number"))
            .map_response(|number: u32| number.to_string())
            .service_fn(move |number| double(stream.clone(), number));
        assert_eq!(service.ready().await.expect("ready").call("21").await.expect("an answer"), "42");
    });
}

/// `Buffer` shares one service among many callers. `Buffer::new` spawns on tokio; `pair` lets the
/// caller spawn the buffer's worker.
#[test]
fn a_buffered_service_is_shared() {
    on_gmp(|| async {
        let stream = Arc::new(Mutex::new(doubler().await));
        let (guard, dropped) = tells_dropped();
        let (buffer, worker) = Buffer::pair(
            service_fn(move |number| {
                let _ = &guard;
                double(stream.clone(), number)
            }),
            8,
        );
        gmp_exec::spawn(worker);
        let callers: Vec<_> = (0..100)
            .map(|number| {
                let buffer = buffer.clone();
                gmp_exec::spawn(async move { buffer.oneshot(number).await.expect("an answer") })
            })
            .collect();
        for (number, caller) in callers.into_iter().enumerate() {
            assert_eq!(caller.await.expect("a caller"), 2 * number as u32);
        }
        // When the last handle is dropped, the worker ends and drops the service.
        drop(buffer);
        dropped.await.expect("the service is gone");
    });
}

#[test]
fn a_limit_bounds_how_many_are_inside() {
    const LIMIT: usize = 3;
    on_gmp(|| async {
        let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let highest = most.clone();
        let service = ServiceBuilder::new().concurrency_limit(LIMIT).service_fn(move |()| {
            let (inside, most) = (inside.clone(), most.clone());
            async move {
                most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                gmp_exec::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, BoxError>(())
            }
        });
        let callers: Vec<_> = (0..50).map(|_| gmp_exec::spawn(service.clone().oneshot(()))).collect();
        for caller in callers {
            caller.await.expect("a caller").expect("an answer");
        }
        assert!((1..=LIMIT).contains(&highest.load(Ordering::SeqCst)));
    });
}

#[test]
fn load_is_shed_while_the_limit_is_reached() {
    on_gmp(|| async {
        let gate = Arc::new(Semaphore::new(0));
        let inner_gate = gate.clone();
        let mut service = ServiceBuilder::new().load_shed().concurrency_limit(1).service_fn(move |()| {
            let gate = inner_gate.clone();
            async move {
                gate.acquire().await.expect("open").forget();
                Ok::<_, BoxError>("served")
            }
        });
        let first = gmp_exec::spawn(service.ready().await.expect("ready").call(()));
        let error = service.ready().await.expect("always ready").call(()).await.expect_err("shed");
        assert!(error.is::<Overloaded>(), "{error}");
        gate.add_permits(2);
        assert_eq!(first.await.expect("a caller").expect("an answer"), "served");
        assert_eq!(service.ready().await.expect("ready").call(()).await.expect("an answer"), "served");
    });
}

/// Tries again while attempts are left, and waits on gmp's timers in between.
#[derive(Clone)]
struct Attempts(usize);

impl Policy<u32, u32, io::Error> for Attempts {
    type Future = std::pin::Pin<Box<gmp_exec::time::Sleep>>;

    fn retry(&mut self, _: &mut u32, result: &mut io::Result<u32>) -> Option<Self::Future> {
        let again = result.is_err() && self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        again.then(|| Box::pin(gmp_exec::time::sleep(std::time::Duration::from_millis(1))))
    }

    fn clone_request(&mut self, number: &u32) -> Option<u32> {
        Some(*number)
    }
}

#[test]
fn a_failed_request_is_retried() {
    on_gmp(|| async {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let stream = Arc::new(Mutex::new(doubler().await));
        let flaky = service_fn(move |number| {
            let fails = counter.fetch_add(1, Ordering::SeqCst) % 3 != 2;
            let stream = stream.clone();
            async move { if fails { Err(io::ErrorKind::Interrupted.into()) } else { double(stream, number).await } }
        });
        let retry = |attempts| ServiceBuilder::new().retry(Attempts(attempts)).service(flaky.clone());
        assert_eq!(retry(2).oneshot(4).await.expect("the third attempt"), 8);
        assert_eq!(retry(1).oneshot(4).await.expect_err("no third attempt").kind(), io::ErrorKind::Interrupted);
        assert_eq!(calls.load(Ordering::SeqCst), 5);
    });
}
