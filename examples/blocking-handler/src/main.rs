//! A server with a handler that blocks its thread, and a measurement of how long all other requests
//! wait.

use std::error::Error;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::interval;

const REQUESTS: usize = 1_000;
const PERIOD: Duration = Duration::from_millis(5);
const REPORTS_AT_A_TIME: usize = 8;

static REPORTS: AtomicUsize = AtomicUsize::new(0);

/// Handlers should not do this, but some do: it waits without `.await`, as a database library that
/// isn't async would.
async fn report() -> &'static str {
    std::thread::sleep(Duration::from_millis(100));
    REPORTS.fetch_add(1, Relaxed);
    "a report\n"
}

async fn hello() -> &'static str {
    "hello\n"
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let application = Router::new().route("/", get(hello)).route("/report", get(report));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let server = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, application).await });

    for _ in 0..REPORTS_AT_A_TIME {
        tokio::spawn(request_reports(format!("{server}/report")));
    }
    print(&measure(format!("{server}/")).await?);
    Ok(())
}

async fn request_reports(address: String) -> reqwest::Result<()> {
    let client = reqwest::Client::new();
    loop {
        client.get(&address).send().await?.bytes().await?;
    }
}

/// Sends a request every 5 ms, whether or not the earlier ones have been answered. Each is timed
/// from its due moment.
async fn measure(address: String) -> Result<Vec<Duration>, Box<dyn Error>> {
    let client = reqwest::Client::new();
    let mut ticks = interval(PERIOD);
    let mut requests = JoinSet::new();
    for _ in 0..REQUESTS {
        let due = ticks.tick().await;
        let response = client.get(&address).send();
        requests.spawn(async move {
            response.await?.bytes().await?;
            reqwest::Result::Ok(due.elapsed())
        });
    }
    let mut latencies = Vec::new();
    while let Some(latency) = requests.join_next().await {
        latencies.push(latency??);
    }
    latencies.sort();
    Ok(latencies)
}

fn print(latencies: &[Duration]) {
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let [p50, p99, max] = [50, 99, 100].map(percentile);
    println!("GET /: {} answered, p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms", latencies.len());
    println!("GET /report: {} answered", REPORTS.load(Relaxed));
}
