//! Requests to a server: some connections ask as fast as they are answered, beside some trouble.
//!
//! A connection that waits sends nothing meanwhile. So a server that stops for 100 ms delays one
//! request of each connection and no more: the percentiles flatter it, the requests a second and the
//! maximum don't. `http_mix` of the benches sends at a constant rate, and counts from the due moments.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval};

use crate::clients::{Client, cause};
use crate::services::Service;
use crate::trouble::Trouble;

const CONNECTIONS: usize = 32;
/// Before this time has passed, nothing counts.
const WARM_UP: Duration = Duration::from_millis(500);
const BETWEEN_REQUESTS_FOR_TROUBLE: Duration = Duration::from_millis(50);
const SLOW_PEERS: usize = 32;
const BETWEEN_BURSTS: Duration = Duration::from_millis(200);
const CONNECTIONS_OF_A_BURST: usize = 100;

/// What the clients saw.
pub(crate) struct Seen {
    /// Latencies in microseconds.
    pub(crate) latencies: Histogram<u64>,
    /// From the end of the warm-up to the last answer.
    pub(crate) time: Duration,
}

/// Sends requests for `time` after the warm-up.
///
/// # Errors
///
/// Fails if a request fails that is not one of those that cause trouble.
#[tokio::main]
pub(crate) async fn send(service: Service, trouble: Trouble, address: SocketAddr, time: Duration) -> Result<Seen> {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Client::connect(service, address).await?);
    }
    let trouble = start(trouble, service, address);
    let from = Instant::now() + WARM_UP;
    let mut asking = JoinSet::new();
    for client in clients {
        asking.spawn(ask(client, from, time));
    }
    let mut latencies = Histogram::new(3)?;
    while let Some(asked) = asking.join_next().await {
        latencies.add(asked??)?;
    }
    let time = from.elapsed();
    trouble.abort();
    Ok(Seen { latencies, time })
}

async fn ask(mut client: Client, from: Instant, time: Duration) -> Result<Histogram<u64>> {
    let mut latencies = Histogram::new(3)?;
    while from.elapsed() < time {
        let sent = Instant::now();
        client.request().await?;
        if sent >= from {
            latencies.record(sent.elapsed().as_micros() as u64)?;
        }
    }
    Ok(latencies)
}

/// Goes on until the returned task is aborted.
fn start(trouble: Trouble, service: Service, address: SocketAddr) -> AbortHandle {
    let task = match trouble {
        Trouble::None => tokio::spawn(async {}),
        Trouble::SlowPeers => tokio::spawn(say_half_a_request(address)),
        Trouble::Burst => tokio::spawn(connect_in_bursts(service, address)),
        requested => {
            assert!(requested.is_requested());
            tokio::spawn(request_trouble(requested, service, address))
        }
    };
    task.abort_handle()
}

/// Does not wait for the answers.
async fn request_trouble(trouble: Trouble, service: Service, address: SocketAddr) {
    let mut due = interval(BETWEEN_REQUESTS_FOR_TROUBLE);
    due.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut requests = JoinSet::new();
    loop {
        due.tick().await;
        requests.spawn(cause(trouble, service, address));
    }
}

async fn say_half_a_request(address: SocketAddr) {
    let mut peers = Vec::new();
    while peers.len() < SLOW_PEERS {
        if let Ok(mut peer) = TcpStream::connect(address).await {
            _ = peer.write_all(b"GET ").await;
            peers.push(peer);
        }
    }
    std::future::pending().await
}

async fn connect_in_bursts(service: Service, address: SocketAddr) {
    let mut due = interval(BETWEEN_BURSTS);
    due.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut connections = JoinSet::new();
    loop {
        due.tick().await;
        for _ in 0..CONNECTIONS_OF_A_BURST {
            connections.spawn(async move { Client::connect(service, address).await?.request().await });
        }
    }
}
