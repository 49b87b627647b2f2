//! redis as programs use it: `Client` with its timeouts, the connection manager, `PubSub`. Against
//! a real server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use compat_tests::DEADLINE;
use compat_tests::server::{self, Server};
use futures::StreamExt;
use redis::aio::{ConnectionManagerConfig, MultiplexedConnection};
use redis::{AsyncCommands, AsyncConnectionConfig, Client, RedisResult, Value};
use tokio::task::JoinSet;

use crate::support::on_gmp;

fn client(server: &Server) -> Client {
    Client::open(format!("redis://{}/", server.address())).expect("an address")
}

/// By default redis gives up on a connection after a second, and on an answer after half a second:
/// a busy machine may need longer.
fn patient() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_connection_timeout(Some(DEADLINE)).set_response_timeout(Some(DEADLINE))
}

async fn connect(client: &Client, config: &AsyncConnectionConfig) -> MultiplexedConnection {
    client.get_multiplexed_async_connection_with_config(config).await.expect("connected")
}

/// A name that no other test uses, and no other run of this test: the server is shared.
fn key(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{name} {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn many_tasks_share_one_connection() {
    let server = server::redis();
    on_gmp(|| async {
        let connection = connect(&client(&server), &patient()).await;
        let sum = key("sum");
        let mut tasks = JoinSet::new();
        for _ in 0..50 {
            let (mut connection, sum) = (connection.clone(), sum.clone());
            tasks.spawn(async move {
                for _ in 0..20 {
                    () = connection.incr(&sum, 1).await.expect("counted");
                }
            });
        }
        tasks.join_all().await;
        assert_eq!(connection.clone().get::<_, u32>(&sum).await.expect("found"), 1000);
    });
}

/// The response timeout is redis' own, and uses tokio's timers.
#[test]
fn a_command_that_lasts_too_long_is_given_up() {
    let server = server::redis();
    on_gmp(|| async {
        let config = patient().set_response_timeout(Some(Duration::from_millis(30)));
        let mut connection = connect(&client(&server), &config).await;
        let answer: RedisResult<Value> =
            redis::cmd("BLPOP").arg(key("never")).arg(0).query_async(&mut connection).await;
        assert!(answer.expect_err("no element was pushed").is_timeout());
    });
}

#[test]
fn the_manager_connects_again() {
    let server = server::redis();
    on_gmp(|| async {
        let client = client(&server);
        let config = ConnectionManagerConfig::new()
            .set_min_delay(Duration::from_millis(1))
            .set_connection_timeout(Some(DEADLINE))
            .set_response_timeout(Some(DEADLINE));
        let mut manager = client.get_connection_manager_with_config(config).await.expect("connected");
        let mut other = connect(&client, &patient()).await;
        for _ in 0..5 {
            let id: u64 = redis::cmd("CLIENT").arg("ID").query_async(&mut manager).await.expect("an answer");
            let kill = redis::cmd("CLIENT").arg(&["KILL", "ID"]).arg(id).query_async::<u32>(&mut other).await;
            assert_eq!(kill.expect("an answer"), 1);
            // The first caller to notice gets the error; later callers find a new connection.
            let mut attempts = 0;
            while manager.ping::<String>().await.is_err() {
                attempts += 1;
                assert!(attempts < 100, "still cut");
            }
            let new: u64 = redis::cmd("CLIENT").arg("ID").query_async(&mut manager).await.expect("an answer");
            assert_ne!(new, id);
        }
    });
}

#[test]
fn what_is_published_reaches_subscribers_in_order() {
    const SUBSCRIBERS: usize = 5;
    let server = server::redis();
    on_gmp(|| async {
        let client = client(&server);
        let channel = key("news");
        let mut subscribers = JoinSet::new();
        for _ in 0..SUBSCRIBERS {
            let mut pubsub = client.get_async_pubsub().await.expect("connected");
            pubsub.subscribe(&channel).await.expect("subscribed");
            subscribers.spawn(async move {
                let messages = pubsub.into_on_message().take(100);
                messages.map(|message| message.get_payload::<u32>().expect("a number")).collect::<Vec<_>>().await
            });
        }
        let mut connection = connect(&client, &patient()).await;
        for i in 0..100 {
            let listeners: usize = connection.publish(&channel, i).await.expect("published");
            assert_eq!(listeners, SUBSCRIBERS);
        }
        for received in subscribers.join_all().await {
            assert!(received.into_iter().eq(0..100));
        }
    });
}
