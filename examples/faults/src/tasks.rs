//! Tasks that never end, or do not get on.

use std::future::poll_fn;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{interval, sleep};

/// Each event leaves a task behind.
pub fn leak() {
    tokio::spawn(async {
        loop {
            tokio::spawn(async { sleep(Duration::from_secs(3600)).await });
            sleep(Duration::from_millis(5)).await;
        }
    });
}

/// A future that returns `Pending` keeps no waker.
pub fn lose_waker() {
    (0..3).for_each(|_| drop(tokio::spawn(async { poll_fn(|_| Poll::<()>::Pending).await })));
}

/// Thousands of tasks sleep for a millisecond again and again.
pub fn arm_timers() {
    for _ in 0..20_000 {
        tokio::spawn(async {
            loop {
                sleep(Duration::from_millis(1)).await;
            }
        });
    }
}

/// A frame has four bytes, which come one at a time. The tick cancels the read, and the bytes that
/// were read are lost.
pub async fn cancel_reads() {
    let (mut writer, mut reader) = duplex(64);
    tokio::spawn(async move {
        loop {
            for byte in 0..4 {
                writer.write_u8(byte).await.unwrap();
                sleep(Duration::from_millis(7)).await;
            }
        }
    });
    tokio::spawn(async move {
        let (mut ticks, mut frame) = (interval(Duration::from_millis(10)), [0; 4]);
        loop {
            tokio::select! {
                read = reader.read_exact(&mut frame) => drop(read.unwrap()),
                _ = ticks.tick() => {}
            }
        }
    });
}

/// More closures block than the pool has threads.
pub fn fill_pool() {
    (0..600).for_each(|_| drop(spawn_blocking(|| thread::sleep(Duration::from_secs(3600)))));
    tokio::spawn(async { spawn_blocking(|| ()).await });
}

/// The end waits for a task that owns the sender of the channel from which it receives.
pub async fn shut_down() {
    let mut workers = JoinSet::new();
    workers.spawn(async {
        let (_stop, mut stopped) = mpsc::channel::<()>(1);
        stopped.recv().await
    });
    while workers.join_next().await.is_some() {}
}
