//! One producer and one consumer, 200 000 messages through tokio's bounded channel.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::rt::{Rt, in_task};

pub(super) const MESSAGES: u32 = 200_000;

pub(super) fn round<R: Rt, const CAPACITY: usize>(rt: &R) -> Duration {
    let (sender, mut receiver) = mpsc::channel(CAPACITY);
    in_task(rt, async move {
        let start = Instant::now();
        let producer = R::spawn(produce(sender));
        let consumer = R::spawn(async move {
            let mut received = 0;
            while receiver.recv().await.is_some() {
                received += 1;
            }
            received
        });
        producer.await.expect("the producer doesn't panic");
        let received: u32 = consumer.await.expect("the consumer doesn't panic");
        let elapsed = start.elapsed();
        assert_eq!(received, MESSAGES, "messages were lost");
        elapsed
    })
}

async fn produce(sender: mpsc::Sender<u32>) {
    for message in 0..MESSAGES {
        sender.send(message).await.expect("the consumer receives until the producer ends");
    }
}
