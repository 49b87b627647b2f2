//! jsonrpsee: its server with its clients over HTTP and WebSockets: calls, errors, subscriptions,
//! the end.

use std::net::SocketAddr;
use std::sync::Arc;

use compat_tests::DEADLINE;
use jsonrpsee::core::client::{ClientT, Error, Subscription, SubscriptionClientT};
use jsonrpsee::http_client::HttpClientBuilder;
use jsonrpsee::server::{RpcModule, Server, ServerHandle};
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::ws_client::{WsClient, WsClientBuilder};
use jsonrpsee::{SubscriptionMessage, rpc_params};
use tokio::task::JoinSet;

use crate::support::on_gmp;

fn module() -> RpcModule<()> {
    let mut module = RpcModule::new(());
    let square = |parameters: jsonrpsee::types::Params<'static>| -> Result<u64, ErrorObjectOwned> {
        let number: u64 = parameters.one()?;
        number.checked_mul(number).ok_or_else(|| ErrorObjectOwned::owned(7, "too large", None::<()>))
    };
    module
        .register_async_method("square", move |parameters, _, _| async move {
            tokio::task::yield_now().await;
            square(parameters)
        })
        .expect("a new name");
    module
        .register_subscription("count", "counted", "stop", |parameters, pending, _, _| async move {
            let end: u64 = parameters.one()?;
            let sink = pending.accept().await?;
            for i in 0..end {
                let message = serde_json::value::to_raw_value(&i)?;
                sink.send(SubscriptionMessage::from(message)).await?;
            }
            Ok(())
        })
        .expect("a new name");
    module
}

async fn serve() -> (ServerHandle, SocketAddr) {
    let server = Server::builder().build("127.0.0.1:0").await.expect("a server");
    let address = server.local_addr().expect("an address");
    (server.start(module()), address)
}

async fn connect(address: SocketAddr) -> WsClient {
    WsClientBuilder::new().request_timeout(DEADLINE).build(format!("ws://{address}")).await.expect("connected")
}

async fn squares(client: Arc<impl ClientT + Send + Sync + 'static>) {
    let mut tasks = JoinSet::new();
    for i in 0..50_u64 {
        let client = client.clone();
        tasks.spawn(async move {
            assert_eq!(client.request::<u64, _>("square", rpc_params![i]).await.expect("answered"), i * i);
        });
    }
    tasks.join_all().await;
    let error = client.request::<u64, _>("square", rpc_params![u64::MAX]).await.expect_err("too large");
    assert!(matches!(&error, Error::Call(error) if error.code() == 7), "{error}");
}

#[test]
fn calls_over_http_are_answered() {
    on_gmp(|| async {
        let (_server, address) = serve().await;
        let client = HttpClientBuilder::new().request_timeout(DEADLINE).build(format!("http://{address}"));
        squares(Arc::new(client.expect("a client"))).await;
    });
}

#[test]
fn calls_over_one_web_socket_are_answered() {
    on_gmp(|| async {
        let (_server, address) = serve().await;
        squares(Arc::new(connect(address).await)).await;
    });
}

/// More messages than the server buffers for a client.
#[test]
fn a_subscription_brings_all_in_order() {
    on_gmp(|| async {
        const COUNT: u64 = 3000;
        let (_server, address) = serve().await;
        let client = WsClientBuilder::new().max_buffer_capacity_per_subscription(COUNT as usize + 1);
        let client = client.build(format!("ws://{address}")).await.expect("connected");
        let mut counted: Subscription<u64> =
            client.subscribe("count", rpc_params![COUNT], "stop").await.expect("subscribed");
        for i in 0..COUNT {
            assert_eq!(counted.next().await.expect("a message").expect("a number"), i);
        }
    });
}

#[test]
fn a_server_that_stops_disconnects_its_clients() {
    on_gmp(|| async {
        let (server, address) = serve().await;
        let client = connect(address).await;
        assert!(client.is_connected());
        server.stop().expect("it runs");
        server.stopped().await;
        client.on_disconnect().await;
    });
}
