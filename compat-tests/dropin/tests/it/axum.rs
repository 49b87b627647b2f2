//! axum's own server: handlers that block, the graceful end, events that are kept alive,
//! WebSockets.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::sse::{KeepAlive, Sse};
use axum::routing::get;
use futures::{SinkExt, StreamExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite;

use crate::support::{self, beside_a_blocked_worker, client, listen, on_gmp, serve};

/// The promise: handlers block their threads, all at the same time, and all other requests are
/// still served.
#[test]
fn blocking_handlers_stall_nobody() {
    const BLOCKING: usize = 8;
    beside_a_blocked_worker(|| async {
        let (free, blocked) = mpsc::channel::<()>();
        let blocked = Arc::new(Mutex::new(blocked));
        let (begin, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let block = move || async move {
            begin.send(()).expect("the test listens");
            // One handler waits for the channel, the others for the lock; all of them without an
            // await.
            blocked.lock().expect("not poisoned").recv().expect("a permit");
            "unblocked"
        };
        let server = serve(Router::new().route("/block", get(block)).route("/quick", get(async || "quick"))).await;

        let mut stuck = JoinSet::new();
        for _ in 0..BLOCKING {
            stuck.spawn(async move { support::get(&client(), format!("http://{server}/block")).await });
        }
        for _ in 0..BLOCKING {
            begun.recv().await.expect("one more is inside");
        }
        let mut quick = JoinSet::new();
        for _ in 0..10 {
            quick.spawn(async move {
                let client = client();
                for _ in 0..20 {
                    assert_eq!(support::get(&client, format!("http://{server}/quick")).await, "quick");
                }
            });
        }
        quick.join_all().await;
        assert!(stuck.try_join_next().is_none(), "no handler was released yet");
        for _ in 0..BLOCKING {
            free.send(()).expect("a handler is blocked");
        }
        assert_eq!(stuck.join_all().await, ["unblocked"; BLOCKING]);
    });
}

#[test]
fn a_graceful_end_waits_for_what_is_being_served() {
    on_gmp(|| async {
        let (inside, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun, open) = (inside.clone(), gate.clone());
        let slow = move || async move {
            begun.notify_one();
            open.notified().await;
            "at last"
        };
        let (listener, server) = listen().await;
        let (stop, stopped) = oneshot::channel();
        let serving = axum::serve(listener, Router::new().route("/", get(slow)))
            .with_graceful_shutdown(async { stopped.await.expect("told to stop") });
        let serving = tokio::spawn(serving.into_future());

        let answer = tokio::spawn(async move { support::get(&client(), format!("http://{server}/")).await });
        inside.notified().await;
        stop.send(()).expect("it serves");
        // New connections are refused, ...
        while let Ok(response) = tokio::net::TcpStream::connect(server).await {
            drop(response);
            tokio::task::yield_now().await;
        }
        assert!(!serving.is_finished());
        // ... and the request inside is answered.
        gate.notify_one();
        assert_eq!(answer.await.expect("a client"), "at last");
        serving.await.expect("a server").expect("a clean end");
    });
}

/// Only the timer of `keep_alive` acts.
#[test]
fn a_silent_stream_of_events_is_kept_alive() {
    on_gmp(|| async {
        let silence = async || {
            let nothing = futures::stream::pending::<Result<_, Infallible>>();
            Sse::new(nothing).keep_alive(KeepAlive::new().interval(Duration::from_millis(5)).text("still here"))
        };
        let server = serve(Router::new().route("/", get(silence))).await;
        let mut response = client().get(format!("http://{server}/")).send().await.expect("a response");
        for _ in 0..5 {
            let comment = response.chunk().await.expect("a chunk").expect("not the end");
            assert_eq!(comment, ": still here\n\n");
        }
    });
}

async fn shout(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if let Message::Text(text) = message {
            socket.send(Message::Text(text.to_uppercase().into())).await.expect("sent");
        }
    }
}

#[test]
fn web_sockets_talk_while_others_do() {
    on_gmp(|| async {
        let upgrade = async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(shout);
        let server = serve(Router::new().route("/", get(upgrade))).await;
        let mut talks = JoinSet::new();
        for talk in 0..20 {
            talks.spawn(async move {
                let (mut socket, _) =
                    tokio_tungstenite::connect_async(format!("ws://{server}/")).await.expect("let in");
                for word in 0..20 {
                    socket.send(tungstenite::Message::text(format!("{talk} says {word}"))).await.expect("sent");
                    let answer = socket.next().await.expect("a message").expect("unbroken");
                    assert_eq!(answer.into_text().expect("text"), format!("{talk} SAYS {word}"));
                }
                socket.close(None).await.expect("closed");
            });
        }
        talks.join_all().await;
    });
}
