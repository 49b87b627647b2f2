//! A websocket that says something, and hears everybody.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

static NEXT: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
    name: String,
}

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> Result<Client> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = tokio_tungstenite::client_async(format!("ws://{address}/room"), stream).await?;
        Ok(Client { socket, name: format!("client {}", NEXT.fetch_add(1, Relaxed)) })
    }

    /// Returns when the client hears what it has said.
    pub(super) async fn say(&mut self) -> Result<()> {
        self.socket.send(Message::text(self.name.as_str())).await?;
        loop {
            let message = self.socket.next().await.context("the server has closed the connection")??;
            if message.to_text()? == self.name {
                return Ok(());
            }
        }
    }
}
