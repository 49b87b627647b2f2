//! tower's middleware that spawns or sleeps on tokio: `Buffer`, `Timeout`, `RateLimit`, `Hedge`,
//! retries with a backoff.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tower::buffer::Buffer;
use tower::hedge::{Hedge, Policy};
use tower::retry::backoff::{Backoff, ExponentialBackoffMaker, MakeBackoff};
use tower::timeout::error::Elapsed;
use tower::util::rng::HasherRng;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::support::on_gmp;

async fn double(number: u32) -> Result<u32, BoxError> {
    tokio::time::sleep(Duration::from_millis(u64::from(number % 3))).await;
    Ok(2 * number)
}

#[test]
fn a_buffered_service_is_shared() {
    on_gmp(|| async {
        let buffer = Buffer::new(service_fn(double), 8);
        let mut callers = JoinSet::new();
        for number in 0..100 {
            let buffer = buffer.clone();
            callers.spawn(async move { assert_eq!(buffer.oneshot(number).await.expect("an answer"), 2 * number) });
        }
        callers.join_all().await;
    });
}

#[test]
fn an_answer_that_is_late_is_an_error() {
    on_gmp(|| async {
        let never = service_fn(|()| std::future::pending::<Result<(), BoxError>>());
        let mut service = ServiceBuilder::new().timeout(Duration::from_millis(20)).service(never);
        let error = service.ready().await.expect("ready").call(()).await.expect_err("late");
        assert!(error.is::<Elapsed>(), "{error}");
        let mut quick = ServiceBuilder::new().timeout(compat_tests::DEADLINE).service(service_fn(double));
        assert_eq!(quick.ready().await.expect("ready").call(21).await.expect("in time"), 42);
    });
}

/// The limit is two in 20 ms: six requests need two more periods.
#[test]
fn a_rate_is_kept() {
    const PERIOD: Duration = Duration::from_millis(20);
    on_gmp(|| async {
        let mut service =
            ServiceBuilder::new().rate_limit(2, PERIOD).service(service_fn(async |()| Ok::<_, BoxError>(())));
        let start = Instant::now();
        for _ in 0..6 {
            service.ready().await.expect("ready").call(()).await.expect("an answer");
        }
        assert!(start.elapsed() >= 2 * PERIOD, "{:?}", start.elapsed());
    });
}

/// Lets `Hedge` repeat every request that hasn't been answered yet.
#[derive(Clone)]
struct Always;

impl Policy<u32> for Always {
    fn clone_request(&self, number: &u32) -> Option<u32> {
        Some(*number)
    }

    fn can_retry(&self, _: &u32) -> bool {
        true
    }
}

#[test]
fn a_hedge_asks_again_when_the_first_is_slow() {
    on_gmp(|| async {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let slow_at_first = service_fn(move |number: u32| {
            let is_first = counter.fetch_add(1, Ordering::SeqCst) == 0;
            async move { if is_first { std::future::pending().await } else { Ok::<_, BoxError>(2 * number) } }
        });
        let latencies = [5; 50];
        let hedge = Hedge::new_with_mock_latencies(slow_at_first, Always, 10, 0.9, Duration::from_secs(60), &latencies);
        assert_eq!(hedge.oneshot(21).await.expect("the second answer"), 42);
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    });
}

/// Tries again until a request succeeds, with a backoff in between.
#[derive(Clone)]
struct Stubborn<B>(B);

impl<B: Backoff<Future = tokio::time::Sleep>> tower::retry::Policy<u32, u32, BoxError> for Stubborn<B> {
    type Future = tokio::time::Sleep;

    fn retry(&mut self, _: &mut u32, result: &mut Result<u32, BoxError>) -> Option<Self::Future> {
        result.is_err().then(|| self.0.next_backoff())
    }

    fn clone_request(&mut self, number: &u32) -> Option<u32> {
        Some(*number)
    }
}

#[test]
fn a_failed_request_is_retried_after_a_while() {
    const SHORTEST: Duration = Duration::from_millis(2);
    on_gmp(|| async {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let flaky = service_fn(move |number| {
            let fails = counter.fetch_add(1, Ordering::SeqCst) < 4;
            async move { if fails { Err("not yet".into()) } else { double(number).await } }
        });
        let backoff = ExponentialBackoffMaker::new(SHORTEST, 4 * SHORTEST, 0.0, HasherRng::default())
            .expect("in order")
            .make_backoff();
        let start = Instant::now();
        let service = ServiceBuilder::new().retry(Stubborn(backoff)).service(flaky);
        assert_eq!(service.oneshot(21).await.expect("the fifth attempt"), 42);
        assert_eq!(calls.load(Ordering::SeqCst), 5);
        assert!(start.elapsed() >= 4 * SHORTEST, "{:?}", start.elapsed());
    });
}
