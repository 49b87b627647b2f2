//! Lines over TCP.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> Result<Client> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream: BufReader::new(stream), line: String::new() })
    }

    pub(super) async fn ask(&mut self, question: &str) -> Result<()> {
        self.line.clear();
        self.stream.get_mut().write_all(format!("{question}\n").as_bytes()).await?;
        ensure!(self.stream.read_line(&mut self.line).await? > 0, "the server has closed the connection");
        Ok(())
    }
}
