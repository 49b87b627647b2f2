//! iroh-gossip, over QUIC of iroh-net.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use iroh_gossip::net::{GOSSIP_ALPN, Gossip};
use iroh_gossip::proto::{Config, TopicId};
use iroh_net::relay::RelayMode;
use iroh_net::{Endpoint, NodeAddr};
use tokio::time::timeout;

use crate::topic::{Receiver, Sender, join};

/// Longer than all packets take, also those that are late.
const LIMIT: Duration = Duration::from_secs(60);
/// How many tasks of a node send, and how many messages each.
const TASKS: usize = 4;
const EACH: usize = 10;

/// iroh #2572: a message that is to be sent drops a read that has got a part of another message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gossip_arrives() {
    let (one, one_addr) = node().await;
    let (other, _) = node().await;
    other.endpoint.add_node_addr(one_addr.clone()).unwrap();
    let topic = TopicId::from([0; 32]);
    let joined =
        async { tokio::join!(join(&one.gossip, topic, vec![]), join(&other.gossip, topic, vec![one_addr.node_id])) };
    let ((one_sends, one_receives), (other_sends, other_receives)) =
        timeout(LIMIT, joined).await.expect("they do not meet");
    let received = async { tokio::join!(receive_all(one_receives), receive_all(other_receives)) };
    send_all(&one_sends, "one");
    send_all(&other_sends, "other");
    timeout(LIMIT, received).await.expect("a message is lost");
}

fn send_all(sender: &Sender, name: &'static str) {
    for task in 0..TASKS {
        let sender = sender.clone();
        tokio::spawn(async move {
            for number in 0..EACH {
                sender.send(format!("{name} {task} {number}")).await;
            }
        });
    }
}

async fn receive_all(mut receiver: Receiver) {
    let mut received = HashSet::new();
    while received.len() < TASKS * EACH {
        received.insert(receiver.receive().await);
    }
}

struct Node {
    endpoint: Endpoint,
    gossip: Gossip,
}

/// A node without relays, and its address, by which others reach it directly.
async fn node() -> (Node, NodeAddr) {
    let builder = Endpoint::builder().alpns(vec![GOSSIP_ALPN.to_vec()]).relay_mode(RelayMode::Disabled);
    let endpoint = builder.bind(0).await.unwrap();
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, endpoint.bound_sockets().0.port()));
    let addr = NodeAddr::new(endpoint.node_id()).with_direct_addresses([local]);
    let gossip = Gossip::from_endpoint(endpoint.clone(), Config::default(), &addr.info);
    tokio::spawn(accept(endpoint.clone(), gossip.clone()));
    (Node { endpoint, gossip }, addr)
}

async fn accept(endpoint: Endpoint, gossip: Gossip) {
    while let Some(connecting) = endpoint.accept().await {
        gossip.handle_connection(connecting.await.unwrap()).await.unwrap();
    }
}
