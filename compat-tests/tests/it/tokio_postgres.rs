//! tokio-postgres over gmp's streams (`connect_raw`), against a real server.
//!
//! `Config::connect` opens tokio's sockets and needs the drop-in.

use std::future::poll_fn;
use std::pin::pin;

use bytes::Bytes;
use compat_tests::server::{self, PASSWORD, Server};
use futures::{SinkExt, StreamExt, TryStreamExt};
use gmp_io::net::TcpStream;
use tokio::io::AsyncReadExt;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Statement};

use crate::support::{connect, on_gmp};

pub(crate) async fn open(server: &Server) -> (Client, Connection<TcpStream, NoTlsStream>) {
    let mut config = Config::new();
    config.user("gopher").password(PASSWORD).dbname("postgres");
    config.connect_raw(connect(server.address()).await, NoTls).await.expect("let in")
}

/// A session whose connection is a task of its own.
async fn session(server: &Server) -> Client {
    let (client, connection) = open(server).await;
    gmp_exec::spawn(async move { connection.await.expect("a clean end") });
    client
}

#[test]
fn rows_are_stored_and_found_again() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = session(&server).await;
        client.batch_execute("CREATE TEMPORARY TABLE tunnel (id int8, name text, deep bool)").await.expect("created");
        let insert = client.prepare("INSERT INTO tunnel VALUES ($1, $2, $3)").await.expect("prepared");
        for (id, name, deep) in [(1_i64, Some("north"), true), (2, None, false), (3, Some("süd"), true)] {
            assert_eq!(client.execute(&insert, &[&id, &name, &deep]).await.expect("inserted"), 1);
        }
        let rows = client.query("SELECT id, name FROM tunnel WHERE deep ORDER BY id", &[]).await.expect("rows");
        let found: Vec<(i64, &str)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        assert_eq!(found, [(1, "north"), (3, "süd")]);
        let nameless = client.query_one("SELECT id, name FROM tunnel WHERE name IS NULL", &[]).await.expect("a row");
        assert_eq!((nameless.get("id"), nameless.get("name")), (2_i64, None::<&str>));
    });
}

#[test]
fn an_error_is_the_statements_not_the_connections() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = session(&server).await;
        let error = client.query("SELECT 1 / 0", &[]).await.expect_err("refused");
        assert_eq!(error.code(), Some(&SqlState::DIVISION_BY_ZERO));
        let error = client.query("SELECT * FROM nowhere", &[]).await.expect_err("refused");
        assert_eq!(error.code(), Some(&SqlState::UNDEFINED_TABLE));
        assert_eq!(client.query_one("SELECT 42", &[]).await.expect("a row").get::<_, i32>(0), 42);
    });
}

#[test]
fn a_wrong_password_is_refused() {
    let server = server::postgres();
    on_gmp(|| async {
        let mut config = Config::new();
        config.user("gopher").password("mole").dbname("postgres");
        let result = config.connect_raw(connect(server.address()).await, NoTls).await;
        let error = result.err().expect("refused");
        assert_eq!(error.code(), Some(&SqlState::INVALID_PASSWORD));
    });
}

/// A dropped transaction is rolled back by a message whose answer is not awaited.
#[test]
fn a_transaction_counts_when_committed() {
    let server = server::postgres();
    on_gmp(|| async {
        let mut client = session(&server).await;
        client.batch_execute("CREATE TEMPORARY TABLE tunnel (id int4)").await.expect("created");
        for commit in [false, true] {
            let transaction = client.transaction().await.expect("begun");
            transaction.execute("INSERT INTO tunnel VALUES (1)", &[]).await.expect("inserted");
            if commit {
                transaction.commit().await.expect("committed");
            }
        }
        let count: i64 = client.query_one("SELECT count(*) FROM tunnel", &[]).await.expect("a row").get(0);
        assert_eq!(count, 1);
    });
}

/// Concurrent requests are sent on one connection without waiting for each other's answers.
#[test]
fn queries_are_pipelined() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = session(&server).await;
        let square = client.prepare("SELECT $1::int4 * $1").await.expect("prepared");
        let ask =
            async |square: &Statement, i: i32| -> i32 { client.query_one(square, &[&i]).await.expect("a row").get(0) };
        let squares = futures::future::join_all((0..200).map(|i| ask(&square, i))).await;
        assert_eq!(squares, (0..200).map(|i| i * i).collect::<Vec<_>>());
    });
}

#[test]
fn a_hundred_thousand_rows_are_streamed_in_and_out() {
    const ROWS: i64 = 100_000;
    let server = server::postgres();
    on_gmp(|| async {
        let client = session(&server).await;
        client.batch_execute("CREATE TEMPORARY TABLE tunnel (id int8)").await.expect("created");
        let mut copy = pin!(client.copy_in("COPY tunnel FROM STDIN").await.expect("begun"));
        for first in (0..ROWS).step_by(1000) {
            let lines: String = (first..first + 1000).map(|id| format!("{id}\n")).collect();
            copy.send(Bytes::from(lines)).await.expect("sent");
        }
        assert_eq!(copy.finish().await.expect("finished"), ROWS as u64);

        let rows = client.query_raw("SELECT id FROM tunnel ORDER BY id", [0_i32; 0]).await.expect("rows");
        let ids: Vec<i64> = rows.map_ok(|row| row.get::<_, i64>(0)).try_collect().await.expect("rows");
        assert!(ids.into_iter().eq(0..ROWS));
        let out = client.copy_out("COPY tunnel TO STDOUT").await.expect("begun");
        let bytes = out.try_fold(0, async |sum, chunk| Ok(sum + chunk.len())).await.expect("chunks");
        assert_eq!(bytes, (0..ROWS).map(|id| format!("{id}\n").len()).sum::<usize>());
    });
}

/// The request to cancel uses a connection of its own, which the server closes when it is done. The
/// request interrupts a backend twice (its process and its process group), so the next query has to
/// wait for that end, or the second interrupt may cancel the next query.
#[test]
fn a_query_is_cancelled() {
    let server = server::postgres();
    on_gmp(|| async {
        let client = session(&server).await;
        let token = client.cancel_token();
        let mut asleep = pin!(client.simple_query("SELECT pg_sleep(3600)"));
        let watcher = session(&server).await;
        tokio::select! {
            _ = asleep.as_mut() => panic!("it has slept"),
            () = until_it_runs(&watcher, "SELECT pg_sleep(3600)") => {}
        }
        let mut request = connect(server.address()).await;
        token.cancel_query_raw(&mut request, NoTls).await.expect("asked");
        let error = asleep.await.expect_err("cancelled");
        assert_eq!(error.code(), Some(&SqlState::QUERY_CANCELED));
        assert_eq!(request.read(&mut [0]).await.expect("closed"), 0, "a request to cancel has no answer");
        assert_eq!(client.query_one("SELECT 1", &[]).await.expect("a row").get::<_, i32>(0), 1);
    });
}

async fn until_it_runs(watcher: &Client, query: &str) {
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = $1";
    while watcher.query_one(running, &[&query]).await.expect("a row").get::<_, i64>(0) == 0 {
        gmp_exec::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[test]
fn notifications_come_in_order() {
    let server = server::postgres();
    on_gmp(|| async {
        let (listener, mut connection) = open(&server).await;
        let notifications = gmp_exec::spawn(async move {
            let messages = futures::stream::poll_fn(move |cx| connection.poll_message(cx));
            let payloads = messages.filter_map(async |message| match message.expect("a message") {
                AsyncMessage::Notification(notification) => Some(notification.payload().to_owned()),
                _ => None,
            });
            payloads.take(50).collect::<Vec<_>>().await
        });
        // A channel for this run only: the server is shared.
        let channel: String =
            listener.query_one("SELECT 'tunnel_' || pg_backend_pid()", &[]).await.expect("a row").get(0);
        listener.batch_execute(&format!("LISTEN {channel}")).await.expect("listening");
        let speaker = session(&server).await;
        for i in 0..50 {
            speaker.execute("SELECT pg_notify($1, $2)", &[&channel, &i.to_string()]).await.expect("notified");
        }
        let expected: Vec<_> = (0..50).map(|i| i.to_string()).collect();
        assert_eq!(notifications.await.expect("a listener"), expected);
    });
}

/// The connection's task ends when the last client is gone.
#[test]
fn dropping_the_client_ends_the_connection() {
    let server = server::postgres();
    on_gmp(|| async {
        let (client, mut connection) = open(&server).await;
        let connection = gmp_exec::spawn(poll_fn(move |cx| std::pin::Pin::new(&mut connection).poll(cx)));
        client.check_connection().await.expect("alive");
        drop(client);
        connection.await.expect("a task").expect("a clean end");
    });
}
