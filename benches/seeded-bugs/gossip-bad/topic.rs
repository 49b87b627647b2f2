//! A topic of iroh-gossip 0.21.

use bytes::Bytes;
use iroh_gossip::net::Gossip;
use iroh_gossip::proto::{Event, TopicId};
use iroh_net::NodeId;
use tokio::sync::broadcast;

#[derive(Clone)]
pub struct Sender(Gossip, TopicId);

impl Sender {
    pub async fn send(&self, message: String) {
        self.0.broadcast(self.1, message.into()).await.unwrap();
    }
}

pub struct Receiver(broadcast::Receiver<Event<NodeId>>);

impl Receiver {
    pub async fn receive(&mut self) -> Bytes {
        loop {
            if let Event::Received(message) = self.0.recv().await.unwrap() {
                return message.content;
            }
        }
    }
}

pub async fn join(gossip: &Gossip, topic: TopicId, peers: Vec<NodeId>) -> (Sender, Receiver) {
    let receiver = gossip.subscribe(topic).await.unwrap();
    gossip.join(topic, peers).await.unwrap().await.unwrap();
    (Sender(gossip.clone(), topic), Receiver(receiver))
}
