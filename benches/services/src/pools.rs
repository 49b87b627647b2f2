//! Pools of connections: how long 1 000 tasks wait for one of 16.

use std::fmt::Debug;
use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::Result;
use bb8::ManageConnection;
use deadpool::managed::{Manager, Metrics, RecycleResult};
use hdrhistogram::Histogram;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use tokio::task::JoinSet;
use tokio::time::sleep;

const TASKS: usize = 1_000;
const CHECKOUTS: usize = 20;
const CONNECTIONS: usize = 16;
/// How long a task keeps a connection. gmp's shorter sleeps end earlier than tokio's.
const USE: Duration = Duration::from_millis(4);

/// Makes connections that cost nothing, so that only the pool is measured.
#[derive(Clone)]
struct Free;

impl ManageConnection for Free {
    type Connection = ();
    type Error = std::io::Error;

    async fn connect(&self) -> std::io::Result<()> {
        Ok(())
    }

    async fn is_valid(&self, _: &mut ()) -> std::io::Result<()> {
        Ok(())
    }

    fn has_broken(&self, _: &mut ()) -> bool {
        false
    }
}

impl Manager for Free {
    type Type = ();
    type Error = std::io::Error;

    async fn create(&self) -> std::io::Result<()> {
        Ok(())
    }

    async fn recycle(&self, _: &mut (), _: &Metrics) -> RecycleResult<std::io::Error> {
        Ok(())
    }
}

/// Prints a line for each pool: how long a checkout waits, and how long all took.
#[tokio::main]
pub(crate) async fn run() -> Result<()> {
    let minute = Duration::from_secs(60);
    let bb8 = bb8::Pool::builder().max_size(CONNECTIONS as u32).connection_timeout(minute).build(Free).await?;
    measure("bb8", move || {
        let pool = bb8.clone();
        async move { use_one(pool.get()).await }
    })
    .await?;
    let deadpool: deadpool::managed::Pool<Free> =
        deadpool::managed::Pool::builder(Free).max_size(CONNECTIONS).build()?;
    measure("deadpool", move || {
        let pool = deadpool.clone();
        async move { use_one(pool.get()).await }
    })
    .await?;
    // sqlx knows its own databases only. It asks a connection for a sign of life before each use and after it,
    // and a connection to SQLite has a thread that answers.
    let sqlx = SqlitePoolOptions::new().max_connections(CONNECTIONS as u32).acquire_timeout(minute);
    let sqlx = sqlx.connect_with(SqliteConnectOptions::new().in_memory(true)).await?;
    measure("sqlx", move || {
        let pool = sqlx.clone();
        async move { use_one(pool.acquire()).await }
    })
    .await
}

/// Returns how long the checkout took.
async fn use_one<C, E: Debug>(checkout: impl Future<Output = Result<C, E>>) -> Duration {
    let since = Instant::now();
    let connection = checkout.await.expect("a connection becomes free in time");
    let waited = since.elapsed();
    sleep(USE).await;
    drop(connection);
    waited
}

async fn measure<F>(pool: &str, checkout: impl Fn() -> F + Clone + Send + 'static) -> Result<()>
where
    F: Future<Output = Duration> + Send,
{
    let since = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let checkout = checkout.clone();
        tasks.spawn(async move {
            let mut waits = Vec::new();
            for _ in 0..CHECKOUTS {
                waits.push(checkout().await);
            }
            waits
        });
    }
    let mut waits = Histogram::<u64>::new(3)?;
    while let Some(done) = tasks.join_next().await {
        for wait in done? {
            waits.record(wait.as_micros() as u64)?;
        }
    }
    let [p50, p99] = [0.5, 0.99].map(|quantile| waits.value_at_quantile(quantile));
    println!("{pool}: p50 {p50} µs, p99 {p99} µs, max {} µs, all {:?}", waits.max(), since.elapsed());
    Ok(())
}
