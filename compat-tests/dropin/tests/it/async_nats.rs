//! async-nats: subscribers, groups, requests, and its reconnecting, against a real server.

use async_nats::{Client, ConnectOptions, Event};
use bytes::Bytes;
use compat_tests::DEADLINE;
use compat_tests::server::{self, Server};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::on_gmp;

const MESSAGES: usize = 200;

async fn connect(server: &Server) -> Client {
    let options = ConnectOptions::new().connection_timeout(DEADLINE).request_timeout(Some(DEADLINE));
    options.connect(format!("nats://{}", server.address())).await.expect("connected")
}

#[test]
fn all_subscribers_get_all_messages_in_order() {
    let server = server::nats();
    on_gmp(|| async {
        let publisher = connect(&server).await;
        let mut tasks = JoinSet::new();
        for _ in 0..3 {
            let client = connect(&server).await;
            let subscriber = client.subscribe("tunnel.*").await.expect("subscribed");
            // When the flush is answered, the server has received the subscription.
            client.flush().await.expect("flushed");
            tasks.spawn(async move {
                let texts = subscriber.take(MESSAGES).map(|message| message.payload).collect::<Vec<_>>().await;
                assert!((0..MESSAGES).map(|i| Bytes::from(i.to_string())).eq(texts));
            });
        }
        for i in 0..MESSAGES {
            publisher.publish("tunnel.north", i.to_string().into()).await.expect("taken");
        }
        tasks.join_all().await;
    });
}

/// Two members of a group share the requests; one of them answers each request.
#[test]
fn requests_are_answered() {
    let server = server::nats();
    on_gmp(|| async {
        let member = connect(&server).await;
        // A name for this run only: the server may not know yet that the members of the previous
        // run are gone.
        let square = member.new_inbox();
        for _ in 0..2 {
            let mut requests = member.queue_subscribe(square.clone(), "members".into()).await.expect("subscribed");
            member.flush().await.expect("flushed");
            let member = member.clone();
            tokio::spawn(async move {
                while let Some(request) = requests.next().await {
                    let number: u32 = std::str::from_utf8(&request.payload).expect("text").parse().expect("a number");
                    let to = request.reply.expect("a request");
                    member.publish(to, (number * number).to_string().into()).await.expect("taken");
                }
            });
        }
        let client = connect(&server).await;
        let mut tasks = JoinSet::new();
        for i in 0..50_u32 {
            let (client, square) = (client.clone(), square.clone());
            tasks.spawn(async move {
                let answer = client.request(square, i.to_string().into()).await.expect("answered");
                assert_eq!(answer.payload, (i * i).to_string());
            });
        }
        tasks.join_all().await;
    });
}

#[test]
fn subscriptions_outlive_their_connection() {
    let server = server::nats();
    on_gmp(|| async {
        let (sender, mut events) = mpsc::unbounded_channel();
        let options = ConnectOptions::new().event_callback(move |event| {
            let _ = sender.send(event);
            async {}
        });
        let client = options.connect(format!("nats://{}", server.address())).await.expect("connected");
        let mut subscriber = client.subscribe("again").await.expect("subscribed");
        assert!(matches!(events.recv().await, Some(Event::Connected)));
        client.force_reconnect().await.expect("begun");
        while !matches!(events.recv().await.expect("an event"), Event::Connected) {}
        client.publish("again", "here".into()).await.expect("taken");
        assert_eq!(subscriber.next().await.expect("a message").payload, "here");
    });
}
