//! HTTP/1.1 on a kept connection.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

pub(crate) struct Client(SendRequest<Empty<Bytes>>);

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> Result<Client> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Client(sender))
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<()> {
        self.0.ready().await?;
        let request = Request::get(path).header("host", "localhost").body(Empty::new())?;
        let answer = self.0.send_request(request).await?;
        ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.into_body().collect().await?;
        Ok(())
    }
}
