//! The application: plain axum, which does not know its runtime.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::routing::get;

use crate::query::{BadQuery, Millis};

/// The routes. `metrics` returns the text that `/metrics` adds to the application's own.
pub(crate) fn router(metrics: impl Fn() -> String + Send + Sync + 'static) -> Router {
    let app = App { in_flight: Arc::default(), metrics: Arc::new(metrics) };
    Router::new()
        .route("/", get(hello))
        .route("/block", get(block))
        .route("/compute", get(compute))
        .route("/metrics", get(show_metrics))
        .with_state(app)
}

#[derive(Clone)]
struct App {
    in_flight: Arc<AtomicUsize>,
    metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

async fn hello() -> &'static str {
    "hello\n"
}

/// Blocks its thread.
async fn block(State(app): State<App>, millis: Result<Millis<100>, BadQuery>) -> Result<String, BadQuery> {
    let duration = millis?.duration();
    let _guard = InFlight::enter(&app);
    thread::sleep(duration);
    Ok(format!("blocked its thread for {duration:?}\n"))
}

/// Keeps a core busy.
async fn compute(State(app): State<App>, millis: Result<Millis<20>, BadQuery>) -> Result<String, BadQuery> {
    let duration = millis?.duration();
    let _guard = InFlight::enter(&app);
    spin(duration);
    Ok(format!("computed for {duration:?}\n"))
}

fn spin(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        spin_loop();
    }
}

async fn show_metrics(State(app): State<App>) -> String {
    format!("serve_in_flight {}\n{}", app.in_flight.load(Relaxed), (app.metrics)())
}

/// A handler that holds its thread, counted for `/metrics`.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn enter(app: &'a App) -> Self {
        app.in_flight.fetch_add(1, Relaxed);
        InFlight(&app.in_flight)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
