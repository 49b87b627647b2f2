//! tokio-tungstenite: WebSockets over gmp's streams, in the clear and inside TLS.

use std::sync::Arc;

use compat_tests::certificates::{Authority, client_config, server_config, server_name};
use futures::{SinkExt, StreamExt};
use gmp_io::net::TcpStream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async, accept_hdr_async, client_async};

use crate::support::{on_gmp, pair};

/// Both ends of a WebSocket.
async fn websockets() -> (WebSocketStream<TcpStream>, WebSocketStream<TcpStream>) {
    let (near, far) = pair().await;
    let (client, server) = tokio::join!(client_async("ws://localhost/", near), accept_async(far));
    (client.expect("upgraded").0, server.expect("upgraded"))
}

/// Sends data back until the other side closes, and returns how that went.
async fn echo<S>(mut socket: WebSocketStream<S>) -> Option<CloseFrame>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut reason = None;
    while let Some(message) = socket.next().await {
        match message.expect("a message") {
            Message::Close(frame) => reason = frame,
            message if message.is_text() || message.is_binary() => socket.send(message).await.expect("sent"),
            _ => {}
        }
    }
    reason
}

#[test]
fn text_and_binary_messages_are_echoed() {
    on_gmp(|| async {
        let (mut client, server) = websockets().await;
        gmp_exec::spawn(echo(server));
        // The last message needs many frames' worth of bytes.
        for message in [Message::text("hello"), Message::text(""), Message::binary(vec![7_u8; 1 << 20])] {
            client.send(message.clone()).await.expect("sent");
            assert_eq!(client.next().await.expect("not the end").expect("a message"), message);
        }
    });
}

#[test]
fn a_ping_is_answered_with_its_content() {
    on_gmp(|| async {
        let (mut client, server) = websockets().await;
        gmp_exec::spawn(echo(server));
        client.send(Message::Ping("are you there".into())).await.expect("sent");
        let pong = client.next().await.expect("not the end").expect("a message");
        assert_eq!(pong, Message::Pong("are you there".into()));
    });
}

/// Both sides send a close frame, the server closes the connection, and further messages fail.
#[test]
fn both_sides_take_part_in_closing() {
    on_gmp(|| async {
        let (mut client, server) = websockets().await;
        let server = gmp_exec::spawn(echo(server));
        let goodbye = CloseFrame { code: CloseCode::Away, reason: "gone digging".into() };
        client.close(Some(goodbye.clone())).await.expect("sent");
        let answer = client.next().await.expect("not the end").expect("a message");
        assert_eq!(answer, Message::Close(Some(goodbye.clone())));
        assert!(client.next().await.is_none());
        assert_eq!(server.await.expect("a server"), Some(goodbye));
        assert!(matches!(client.send(Message::text("too late")).await, Err(Error::AlreadyClosed)));
    });
}

#[test]
#[expect(clippy::result_large_err, reason = "the callback's type is tungstenite's")]
fn a_server_may_refuse_the_upgrade() {
    on_gmp(|| async {
        let (near, far) = pair().await;
        let refuse = |request: &Request, _: Response| -> Result<Response, ErrorResponse> {
            let mut refusal = ErrorResponse::new(Some(format!("{} is closed", request.uri().path())));
            *refusal.status_mut() = http::StatusCode::FORBIDDEN;
            Err(refusal)
        };
        let (client, server) = tokio::join!(client_async("ws://localhost/burrow", near), accept_hdr_async(far, refuse));
        let Err(Error::Http(response)) = client else { panic!("upgraded") };
        assert_eq!(response.status(), http::StatusCode::FORBIDDEN);
        assert!(server.is_err());
    });
}

/// A reader and a writer in tasks of their own, inside TLS.
#[test]
fn an_encrypted_socket_is_split() {
    const MESSAGES: usize = 1000;
    on_gmp(|| async {
        let authority = Authority::create();
        let (near, far) = pair().await;
        let acceptor = TlsAcceptor::from(Arc::new(server_config(&authority, "localhost")));
        gmp_exec::spawn(async move {
            let stream = acceptor.accept(far).await.expect("a handshake");
            echo(accept_async(stream).await.expect("upgraded")).await
        });

        let connector = TlsConnector::from(Arc::new(client_config(&authority)));
        let stream = connector.connect(server_name("localhost"), near).await.expect("a handshake");
        let (client, _) = client_async("wss://localhost/", stream).await.expect("upgraded");
        let (mut sink, messages) = client.split();
        let writer = gmp_exec::spawn(async move {
            for i in 0..MESSAGES {
                sink.send(Message::text(i.to_string())).await.expect("sent");
            }
            sink
        });
        let received: Vec<_> = messages.take(MESSAGES).map(|message| message.expect("a message")).collect().await;
        let expected: Vec<_> = (0..MESSAGES).map(|i| Message::text(i.to_string())).collect();
        assert_eq!(received, expected);
        drop(writer.await.expect("a writer"));
    });
}
