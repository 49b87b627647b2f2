//! A client of each service: one connection, one request at a time.

mod fanout;
mod grpc;
mod http;
mod redis;

use std::net::SocketAddr;

use anyhow::Result;

use crate::services::Service;
use crate::trouble::Trouble;

pub(crate) enum Client {
    Http(http::Client, &'static str),
    Redis(redis::Client),
    Fanout(Box<fanout::Client>),
    Grpc(grpc::Client),
}

impl Client {
    pub(crate) async fn connect(service: Service, address: SocketAddr) -> Result<Client> {
        Ok(match service {
            Service::Redis => Client::Redis(redis::Client::connect(address).await?),
            Service::Fanout => Client::Fanout(Box::new(fanout::Client::connect(address).await?)),
            Service::Grpc => Client::Grpc(grpc::Client::connect(address).await?),
            _ => {
                let path = service.path().expect("all other services speak HTTP");
                Client::Http(http::Client::connect(address).await?, path)
            }
        })
    }

    /// Returns when the whole answer is there.
    pub(crate) async fn request(&mut self) -> Result<()> {
        match self {
            Client::Http(client, path) => client.get(path).await,
            Client::Redis(client) => client.ask("GET key").await,
            Client::Fanout(client) => client.say().await,
            Client::Grpc(client) => client.count("").await,
        }
    }
}

/// Sends the request that causes `trouble`, on a connection of its own.
pub(crate) async fn cause(trouble: Trouble, service: Service, address: SocketAddr) -> Result<()> {
    let name = trouble.name();
    match service {
        Service::Redis => redis::Client::connect(address).await?.ask(&format!("TROUBLE {name}")).await,
        Service::Grpc => grpc::Client::connect(address).await?.count(&name).await,
        _ => http::Client::connect(address).await?.get(&format!("/trouble/{name}")).await,
    }
}
