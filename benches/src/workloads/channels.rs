//! Messages through tokio's bounded channel, which is the same on every side.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::rt::{Rt, in_task};

pub(super) const MESSAGES: u32 = 200_000;
pub(super) const HOPS: u32 = 100_000;
const RING: u32 = 500;

pub(super) fn mpsc<R: Rt, const CAPACITY: usize>(rt: &R) -> Duration {
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

/// The token of a ring: the number of hops left, and the start of the measurement.
#[derive(Debug, Clone, Copy)]
struct Token {
    hops: u32,
    start: Instant,
}

pub(super) fn ring<R: Rt>(rt: &R) -> Duration {
    in_task(rt, async {
        let (first, receiver) = mpsc::channel(1);
        let (finish, mut finished) = mpsc::channel(1);
        let mut tasks = Vec::with_capacity(RING as usize);
        let mut last = receiver;
        for _ in 1..RING {
            let (sender, receiver) = mpsc::channel(1);
            tasks.push(R::spawn(pass_on(last, sender, finish.clone())));
            last = receiver;
        }
        tasks.push(R::spawn(pass_on(last, first.clone(), finish)));

        // One lap that isn't measured: afterwards every task waits for the token.
        lap(&first, RING, &mut finished).await;
        let elapsed = lap(&first, HOPS, &mut finished).await;
        drop(finished);
        first.send(Token { hops: 1, start: Instant::now() }).await.expect("the ring is closed only now");
        drop(first);
        for task in tasks {
            task.await.expect("a task of the ring doesn't panic");
        }
        elapsed
    })
}

async fn lap(first: &mpsc::Sender<Token>, hops: u32, finished: &mut mpsc::Receiver<Duration>) -> Duration {
    let token = Token { hops, start: Instant::now() };
    first.send(token).await.expect("the ring is closed only at the end");
    finished.recv().await.expect("the ring is closed only at the end")
}

/// Ends when the receiver for finished laps is gone; its neighbours follow, one by one.
async fn pass_on(mut from: mpsc::Receiver<Token>, to: mpsc::Sender<Token>, finish: mpsc::Sender<Duration>) {
    while let Some(token) = from.recv().await {
        let hops = token.hops - 1;
        let sent = if hops == 0 {
            finish.send(token.start.elapsed()).await.is_ok()
        } else {
            to.send(Token { hops, ..token }).await.is_ok()
        };
        if !sent {
            return;
        }
    }
}
