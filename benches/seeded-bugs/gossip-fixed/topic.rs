//! A topic of iroh-gossip 0.22.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use iroh_gossip::net::{Event, Gossip, GossipEvent, GossipReceiver, GossipSender};
use iroh_gossip::proto::TopicId;
use iroh_net::NodeId;

#[derive(Clone)]
pub struct Sender(Arc<GossipSender>);

impl Sender {
    pub async fn send(&self, message: String) {
        self.0.broadcast(message.into()).await.unwrap();
    }
}

pub struct Receiver(GossipReceiver);

impl Receiver {
    pub async fn receive(&mut self) -> Bytes {
        loop {
            if let Event::Gossip(GossipEvent::Received(message)) = self.0.next().await.unwrap().unwrap() {
                return message.content;
            }
        }
    }
}

pub async fn join(gossip: &Gossip, topic: TopicId, peers: Vec<NodeId>) -> (Sender, Receiver) {
    let (sender, receiver) = gossip.join(topic, peers).await.unwrap().split();
    (Sender(Arc::new(sender)), Receiver(receiver))
}
