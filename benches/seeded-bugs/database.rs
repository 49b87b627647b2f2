//! The pool of sqlx.

use sqlx_core::pool::{Pool, PoolOptions};
use sqlx_core::sqlite::Sqlite;
use tokio::task::yield_now;

use crate::LIMIT;

/// sqlx #1293: a connection is released while a task begins to wait for one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlx_release() {
    let options = PoolOptions::new().max_connections(1).connect_timeout(LIMIT);
    let pool: Pool<Sqlite> = options.connect("sqlite::memory:").await.unwrap();
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for _ in 0..2 {
                    let _connection = pool.acquire().await.expect("a connection is free");
                    yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
