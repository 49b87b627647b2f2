//! Websockets: each message goes to all of them.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;
use tokio::sync::broadcast;

/// How many messages a late websocket may have missed. The clients say 7 000 to 8 000 a second on two
/// cores, and the system may leave a thread of the server without a core for a good while.
const KEPT: usize = 1 << 16;

pub(super) fn router() -> Router {
    let (room, _) = broadcast::channel(KEPT);
    Router::new().route("/room", any(upgrade)).with_state(room)
}

async fn upgrade(upgrade: WebSocketUpgrade, State(room): State<broadcast::Sender<Utf8Bytes>>) -> Response {
    upgrade.on_upgrade(|socket| stay(socket, room))
}

async fn stay(mut socket: WebSocket, room: broadcast::Sender<Utf8Bytes>) {
    let mut messages = room.subscribe();
    loop {
        tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(Message::Text(text))) => _ = room.send(text),
                Some(Ok(_)) => {}
                _ => return,
            },
            message = messages.recv() => match message {
                Ok(text) => {
                    if socket.send(Message::Text(text)).await.is_err() {
                        return;
                    }
                }
                // Messages are lost, and a client may wait for one of them without an end.
                Err(_) => return,
            },
        }
    }
}
