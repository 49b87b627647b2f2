//! async-nats: subscribers, groups, requests, and its connecting again, against a real server.

use async_nats::{Client, ConnectOptions, Event, RequestErrorKind};
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

/// Returns when the server has handled all that the client has sent before: it handles a
/// connection's messages in order, and says that no client answers this request. A flush would not
/// do: it returns once the bytes are written.
async fn be_sure(client: &Client) {
    let error = client.request("unheard", Bytes::new()).await.expect_err("no client answers");
    assert_eq!(error.kind(), RequestErrorKind::NoResponders);
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
            be_sure(&client).await;
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

/// Two members of one group share the requests; each request is answered by one of them.
#[test]
fn requests_are_answered() {
    let server = server::nats();
    on_gmp(|| async {
        let member = connect(&server).await;
        // A name of this run: the server may not know yet that the members of the run before are
        // gone.
        let square = member.new_inbox();
        for _ in 0..2 {
            let mut requests = member.queue_subscribe(square.clone(), "members".into()).await.expect("subscribed");
            be_sure(&member).await;
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
