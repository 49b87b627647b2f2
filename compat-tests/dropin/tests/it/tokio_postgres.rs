//! tokio-postgres with sockets of its own (`Config::connect`, `CancelToken::cancel_query`), against
//! a real server.

use std::pin::pin;
use std::sync::Arc;

use compat_tests::DEADLINE;
use compat_tests::server::{self, PASSWORD, Server};
use futures::TryStreamExt;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

use crate::support::on_gmp;

/// A session whose connection is a task.
async fn connect(server: &Server) -> Client {
    let mut config = Config::new();
    config.host("127.0.0.1").port(server.address().port()).connect_timeout(DEADLINE);
    config.user("gopher").password(PASSWORD).dbname("postgres");
    let (client, connection) = config.connect(NoTls).await.expect("let in");
    tokio::spawn(connection);
    client
}

#[test]
fn many_tasks_share_a_session() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = Arc::new(connect(&server).await);
        let statement = client.prepare("SELECT $1::int8 * $1").await.expect("prepared");
        let mut tasks = JoinSet::new();
        for i in 0..50_i64 {
            let (client, statement) = (client.clone(), statement.clone());
            tasks.spawn(async move {
                let row = client.query_one(&statement, &[&i]).await.expect("a row");
                assert_eq!(row.get::<_, i64>(0), i * i);
            });
        }
        tasks.join_all().await;
    });
}

/// Far more rows than fit into the buffers between the server and the task that reads.
#[test]
fn rows_are_streamed() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = connect(&server).await;
        let rows = client.query_raw("SELECT n, repeat('x', 100) FROM generate_series(1, 20000) AS n", [""; 0]);
        let mut rows = pin!(rows.await.expect("rows"));
        let mut sum = 0;
        while let Some(row) = rows.try_next().await.expect("a row") {
            sum += i64::from(row.get::<_, i32>(0));
        }
        assert_eq!(sum, 20_000 * 20_001 / 2);
    });
}

/// The cancellation uses a connection of its own.
#[test]
fn a_statement_is_cancelled() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = connect(&server).await;
        let cancel = client.cancel_token();
        let mut sleep = pin!(client.batch_execute("SELECT pg_sleep(3600)"));
        // A cancellation that arrives before the statement has begun has no effect.
        let error = loop {
            tokio::select! {
                result = &mut sleep => break result.expect_err("cancelled"),
                result = timeout(DEADLINE, cancel.cancel_query(NoTls)) => result.expect("answered").expect("sent"),
            }
        };
        assert_eq!(error.code(), Some(&SqlState::QUERY_CANCELED));
    });
}
