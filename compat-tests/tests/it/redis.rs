//! redis: one connection for many callers, over a gmp stream, against a real server.
//!
//! redis uses tokio's timers for its response timeout (500 ms by default), spawns a `PubSub`'s
//! driver on tokio and opens tokio's sockets in `Client`: these need the drop-in. A
//! `MultiplexedConnection` without timeouts needs nothing; gmp's `timeout` around a call has the
//! same effect. With RESP3, published messages arrive through that connection, too.

use std::ops::Deref;
use std::time::Duration;

use compat_tests::server::{self, Server};
use gmp_exec::task::JoinHandle;
use gmp_exec::time::timeout;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncCommands, AsyncConnectionConfig, ProtocolVersion, PushInfo, PushKind, RedisConnectionInfo, RedisResult, Value,
    pipe,
};
use tokio::sync::mpsc;

use crate::support::{connect, on_gmp};

/// Timeouts off, because they are tokio's.
pub(crate) fn without_timeouts() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None)
}

async fn open(server: &Server, config: AsyncConnectionConfig) -> (MultiplexedConnection, JoinHandle<()>) {
    let info = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3);
    let stream = connect(server.address()).await;
    let (connection, driver) =
        MultiplexedConnection::new_with_config(&info, stream, config).await.expect("a connection");
    (connection, gmp_exec::spawn(driver))
}

/// A connection, and a separate set of keys on the shared server.
struct Session {
    connection: MultiplexedConnection,
    id: u64,
}

impl Session {
    async fn open(server: &Server) -> Session {
        let (mut connection, _driver) = open(server, without_timeouts()).await;
        let id = redis::cmd("CLIENT").arg("ID").query_async(&mut connection).await.expect("an answer");
        Session { connection, id }
    }

    fn key(&self, name: impl std::fmt::Display) -> String {
        format!("client {}: {name}", self.id)
    }

    /// Waits until the server has begun this session's `command`, which `witness` observes.
    async fn has_asked(&self, command: &str, witness: &Session) {
        let mut list = redis::cmd("CLIENT");
        list.arg(&["LIST", "ID"]).arg(self.id);
        let begun = format!(" cmd={command} ");
        while !list.query_async::<String>(&mut witness.connection.clone()).await.expect("an answer").contains(&begun) {}
    }
}

impl Deref for Session {
    type Target = MultiplexedConnection;

    fn deref(&self) -> &MultiplexedConnection {
        &self.connection
    }
}

#[test]
fn values_of_many_types_are_kept() {
    let server = server::redis();
    on_gmp(|| async {
        let session = Session::open(&server).await;
        let mut connection = session.clone();
        let large = vec![7_u8; 4 << 20];
        () = connection.set(session.key("large"), &large).await.expect("set");
        let found: Vec<u8> = connection.get(session.key("large")).await.expect("found");
        assert!(found == large, "{} bytes differ", found.len());

        () = connection.rpush(session.key("list"), &["a", "b", "c"]).await.expect("pushed");
        let list: Vec<String> = connection.lrange(session.key("list"), 0, -1).await.expect("found");
        assert_eq!(list, ["a", "b", "c"]);
        let nothing: Option<String> = connection.get(session.key("nothing")).await.expect("an answer");
        assert_eq!(nothing, None);

        let error = connection.incr::<_, _, i64>(session.key("list"), 1).await.expect_err("a list");
        assert_eq!(error.code(), Some("WRONGTYPE"));
    });
}

/// Each caller gets the answer to its own question.
#[test]
fn many_tasks_share_one_connection() {
    const TASKS: u32 = 100;
    let server = server::redis();
    on_gmp(|| async {
        let session = Session::open(&server).await;
        let tasks: Vec<_> = (0..TASKS)
            .map(|i| {
                let (mut connection, own, sum) = (session.clone(), session.key(i), session.key("sum"));
                gmp_exec::spawn(async move {
                    for round in 0..10 {
                        () = connection.set(&own, i + round).await.expect("set");
                        assert_eq!(connection.get::<_, u32>(&own).await.expect("found"), i + round);
                        let _: u64 = connection.incr(&sum, 1).await.expect("counted");
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task");
        }
        assert_eq!(session.clone().get::<_, u32>(session.key("sum")).await.expect("found"), 10 * TASKS);
    });
}

#[test]
fn a_pipeline_is_answered_as_a_whole() {
    let server = server::redis();
    on_gmp(|| async {
        let session = Session::open(&server).await;
        let mut connection = session.clone();
        let (a, b) = (session.key("a"), session.key("b"));
        let mut transaction = pipe();
        transaction.atomic().set(&a, 1).ignore().incr(&a, 41).set(&b, "x").ignore().get(&b);
        let answers: (i64, String) = transaction.query_async(&mut connection).await.expect("answers");
        assert_eq!(answers, (42, "x".into()));
    });
}

/// Messages that others publish are pushed through the connection that also sends requests.
#[test]
fn published_messages_are_pushed() {
    let server = server::redis();
    on_gmp(|| async {
        let session = Session::open(&server).await;
        let channel = session.key("news");
        let (pushes, mut pushed) = mpsc::unbounded_channel();
        let (mut subscriber, _driver) = open(&server, without_timeouts().set_push_sender(pushes)).await;
        subscriber.subscribe(&channel).await.expect("subscribed");
        for i in 0..50 {
            let listeners: u32 = session.clone().publish(&channel, i).await.expect("published");
            assert_eq!(listeners, 1);
            assert_eq!(redis::cmd("PING").query_async::<String>(&mut subscriber).await.expect("an answer"), "PONG");
        }
        let mut received = Vec::new();
        while received.len() < 50 {
            let PushInfo { kind, data } = pushed.recv().await.expect("the connection is open");
            if kind == PushKind::Message {
                assert_eq!(data[0], Value::BulkString(channel.clone().into()));
                received.push(redis::from_redis_value::<u32>(data[1].clone()).expect("a number"));
            }
        }
        assert!(received.into_iter().eq(0..50));
    });
}

/// A caller that gives up loses its answer, but not the connection or the answers of others.
#[test]
fn a_call_may_be_given_up_on() {
    let server = server::redis();
    on_gmp(|| async {
        let (session, other) = (Session::open(&server).await, Session::open(&server).await);
        let mut connection = session.clone();
        let list = session.key("list");
        let mut waiting = connection.blpop::<_, (String, String)>(&list, 0.0);
        // A call that is dropped before it is sent never reaches the server.
        tokio::select! {
            answer = &mut waiting => panic!("no element was pushed: {answer:?}"),
            () = session.has_asked("blpop", &other) => {}
        }
        timeout(Duration::from_millis(20), waiting).await.expect_err("no element was pushed");

        // The abandoned call still waits on the server and takes the first element; the second one
        // is left for the next request.
        () = other.clone().rpush(&list, &["first", "second"]).await.expect("pushed");
        let left: Vec<String> = connection.lrange(&list, 0, -1).await.expect("an answer");
        assert_eq!(left, ["second"]);
    });
}

/// When the server closes the connection, callers get an error and the driver ends.
#[test]
fn a_connection_that_is_cut_is_an_error() {
    let server = server::redis();
    on_gmp(|| async {
        let (mut connection, driver) = open(&server, without_timeouts()).await;
        let id: u64 = redis::cmd("CLIENT").arg("ID").query_async(&mut connection).await.expect("an answer");
        let mut waiting = connection.clone();
        let waiting = gmp_exec::spawn(async move {
            let answer: RedisResult<Value> = redis::cmd("BLPOP").arg("never").arg(0).query_async(&mut waiting).await;
            answer
        });
        let other = Session::open(&server).await;
        let killed: u32 =
            redis::cmd("CLIENT").arg(&["KILL", "ID"]).arg(id).query_async(&mut other.clone()).await.expect("an answer");
        assert_eq!(killed, 1);
        let error = waiting.await.expect("a caller").expect_err("cut");
        assert!(error.is_connection_dropped(), "{error:?}");
        drop(connection);
        driver.await.expect("a driver");
    });
}
