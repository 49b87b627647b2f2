//! sqlx: pools of PostgreSQL connections, against a real server, and of SQLite's, which have
//! threads of their own.

use std::time::Duration;

use compat_tests::server::{self, PASSWORD, Server};
use futures::TryStreamExt;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions, PgSslMode};
use sqlx::sqlite::{Sqlite, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use sqlx::{Error, Row};
use tokio::task::JoinSet;

use crate::support::on_gmp;

async fn postgres(server: &Server, connections: u32) -> PgPool {
    let options = PgConnectOptions::new()
        .host("127.0.0.1")
        .port(server.address().port())
        .username("gopher")
        .password(PASSWORD)
        .database("postgres")
        .ssl_mode(PgSslMode::Disable);
    PgPoolOptions::new().max_connections(connections).connect_with(options).await.expect("let in")
}

#[test]
fn a_pool_of_few_sessions_serves_many_tasks() {
    let server = server::postgres();
    on_gmp(|| async {
        let pool = postgres(&server, 3).await;
        let mut tasks = JoinSet::new();
        for i in 0..50_i32 {
            let pool = pool.clone();
            tasks.spawn(async move {
                let square: i32 = sqlx::query_scalar("SELECT $1 * $1").bind(i).fetch_one(&pool).await.expect("a row");
                assert_eq!(square, i * i);
            });
        }
        tasks.join_all().await;
        assert!(pool.size() <= 3);
        pool.close().await;
    });
}

/// The only connection is taken, and a waiting task has a deadline.
#[test]
fn a_pool_that_is_exhausted_is_given_up_on() {
    on_gmp(|| async {
        let pool = SqlitePoolOptions::new().max_connections(1).acquire_timeout(Duration::from_millis(50));
        let pool = pool.connect_lazy("sqlite::memory:").expect("an address");
        let taken = acquire_at_last(&pool).await;
        assert!(matches!(pool.acquire().await, Err(Error::PoolTimedOut)));
        drop(taken);
        acquire_at_last(&pool).await;
    });
}

/// The pool's deadline also covers opening a connection, which may take longer on a busy machine.
async fn acquire_at_last(pool: &SqlitePool) -> PoolConnection<Sqlite> {
    loop {
        match pool.acquire().await {
            Err(Error::PoolTimedOut) => {}
            acquired => return acquired.expect("a connection"),
        }
    }
}

/// A task of sqlx rolls a dropped transaction back.
#[test]
fn a_transaction_counts_when_committed() {
    let server = server::postgres();
    on_gmp(|| async {
        let pool = postgres(&server, 1).await;
        sqlx::query("CREATE TEMPORARY TABLE tunnel (id int4)").execute(&pool).await.expect("created");
        for commit in [false, true] {
            let mut transaction = pool.begin().await.expect("begun");
            sqlx::query("INSERT INTO tunnel VALUES (1)").execute(&mut *transaction).await.expect("inserted");
            if commit {
                transaction.commit().await.expect("committed");
            }
        }
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM tunnel").fetch_one(&pool).await.expect("a row");
        assert_eq!(count, 1);
        pool.close().await;
    });
}

#[test]
fn rows_are_streamed_and_notifications_heard() {
    let server = server::postgres();
    on_gmp(|| async {
        let pool = postgres(&server, 2).await;
        let mut rows = sqlx::query("SELECT generate_series(1, 10000) AS n").fetch(&pool);
        let mut sum = 0_i64;
        while let Some(row) = rows.try_next().await.expect("rows") {
            sum += i64::from(row.get::<i32, _>("n"));
        }
        assert_eq!(sum, 10_000 * 10_001 / 2);
        drop(rows);

        let mut listener = PgListener::connect_with(&pool).await.expect("let in");
        // A channel for this run only: the server is shared.
        let channel: String =
            sqlx::query_scalar("SELECT 'tunnel_' || pg_backend_pid()").fetch_one(&pool).await.expect("a row");
        listener.listen(&channel).await.expect("listening");
        for i in 0..20 {
            let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(&channel).bind(i.to_string());
            notify.execute(&pool).await.expect("notified");
            assert_eq!(listener.recv().await.expect("a notification").payload(), i.to_string());
        }
        drop(listener);
        pool.close().await;
    });
}

#[test]
fn a_file_is_written_by_many_tasks() {
    on_gmp(|| async {
        let folder = tempfile::tempdir().expect("a folder");
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("burrow.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(compat_tests::DEADLINE);
        let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await.expect("opened");
        sqlx::query("CREATE TABLE tunnel (id INTEGER PRIMARY KEY, name TEXT)").execute(&pool).await.expect("created");
        let mut tasks = JoinSet::new();
        for i in 0..40_i64 {
            let pool = pool.clone();
            tasks.spawn(async move {
                let insert = sqlx::query("INSERT INTO tunnel VALUES (?, ?)").bind(i).bind(format!("tunnel {i}"));
                insert.execute(&pool).await.expect("inserted");
                let name: String = sqlx::query_scalar("SELECT name FROM tunnel WHERE id = ?")
                    .bind(i)
                    .fetch_one(&pool)
                    .await
                    .expect("a row");
                assert_eq!(name, format!("tunnel {i}"));
            });
        }
        tasks.join_all().await;
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM tunnel").fetch_one(&pool).await.expect("a row");
        assert_eq!(count, 40);
        let error = sqlx::query("INSERT INTO tunnel VALUES (0, '')").execute(&pool).await.expect_err("taken");
        assert!(error.as_database_error().expect("the database's").is_unique_violation(), "{error}");
        pool.close().await;
    });
}
