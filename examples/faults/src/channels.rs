//! A channel that its receiver fills itself, and one that grows.

use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::sleep;

async fn retry(jobs: Sender<u32>, mut queue: Receiver<u32>) {
    while let Some(job) = queue.recv().await {
        for part in 0..2 {
            jobs.send(job + part).await.unwrap();
        }
    }
}

/// The receiver sends two jobs for each that it receives.
pub async fn full() {
    let (jobs, queue) = mpsc::channel(4);
    jobs.send(1).await.unwrap();
    tokio::spawn(retry(jobs, queue));
}

/// Orders come faster than they are audited.
pub async fn grows() {
    let (orders, mut audit) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            orders.send(vec![0_u8; 1024]).unwrap();
            sleep(Duration::from_millis(2)).await;
        }
    });
    tokio::spawn(async move {
        while let Some(order) = audit.recv().await {
            drop(order);
            sleep(Duration::from_millis(250)).await;
        }
    });
}
