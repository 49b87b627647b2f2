//! A request over HTTP/2, and the stream that answers it.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use crate::services::{Numbers, Range};

const MESSAGES: u32 = 10;

pub(crate) struct Client(Grpc<Channel>);

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> Result<Client> {
        let channel = Channel::from_shared(format!("http://{address}"))?.connect().await?;
        Ok(Client(Grpc::new(channel)))
    }

    pub(super) async fn count(&mut self, trouble: &str) -> Result<()> {
        self.0.ready().await?;
        let request = tonic::Request::new(Range { count: MESSAGES, trouble: trouble.to_owned() });
        let path = PathAndQuery::from_static("/services.Counter/Count");
        let codec = ProstCodec::<Range, Numbers>::default();
        let mut stream = self.0.server_streaming(request, path, codec).await?.into_inner();
        let mut messages = 0;
        while stream.message().await?.is_some() {
            messages += 1;
        }
        ensure!(messages == MESSAGES, "{messages} messages instead of {MESSAGES}");
        Ok(())
    }
}
