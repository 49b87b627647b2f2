//! tokio-stream: the wrappers around tokio's channels and readers, and the combinators without
//! timers.
//!
//! `timeout`, `throttle`, `chunks_timeout` and `IntervalStream` use tokio's timers, and
//! `TcpListenerStream` wraps tokio's listener; they need the drop-in.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{broadcast, mpsc, watch};
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::wrappers::{BroadcastStream, LinesStream, ReceiverStream, UnboundedReceiverStream, WatchStream};
use tokio_stream::{Stream, StreamExt, StreamMap};

use crate::support::{on_gmp, pair};

/// Lines from a socket.
async fn lines(text: &'static str) -> impl Stream<Item = String> {
    let (mut near, far) = pair().await;
    gmp_exec::spawn(async move { near.write_all(text.as_bytes()).await });
    LinesStream::new(BufReader::new(far).lines()).map(|line| line.expect("a line"))
}

#[test]
fn lines_from_a_socket_are_a_stream() {
    on_gmp(|| async {
        let long: Vec<_> = lines("one\nthree\nfive\nfifteen\n")
            .await
            .filter(|line| line.len() > 3)
            .map(|line| line.len())
            .collect()
            .await;
        assert_eq!(long, [5, 4, 7]);
    });
}

#[test]
fn streams_are_merged_and_told_apart() {
    on_gmp(|| async {
        let merged = lines("a\nb\nc").await.merge(lines("x\ny").await);
        let mut all: Vec<_> = merged.collect().await;
        all.sort();
        assert_eq!(all, ["a", "b", "c", "x", "y"]);

        let mut map = StreamMap::new();
        map.insert("left", Box::pin(lines("1\n2").await));
        map.insert("right", Box::pin(lines("3").await));
        let mut all: Vec<_> = map.collect().await;
        all.sort();
        assert_eq!(all, [("left", "1".to_string()), ("left", "2".into()), ("right", "3".into())]);
    });
}

#[test]
fn channels_are_streams() {
    on_gmp(|| async {
        let (bounded, receiver) = mpsc::channel(1);
        let (unbounded, unbounded_receiver) = mpsc::unbounded_channel();
        gmp_exec::spawn(async move {
            for i in 0..100 {
                bounded.send(i).await.expect("the receiver is there");
                unbounded.send(i + 100).expect("the receiver is there");
            }
        });
        let numbers = ReceiverStream::new(receiver).chain(UnboundedReceiverStream::new(unbounded_receiver));
        assert_eq!(numbers.fold(0, |sum, i| sum + i).await, (0..200).sum::<i32>());
    });
}

#[test]
fn a_watched_value_is_seen_as_it_changes() {
    on_gmp(|| async {
        let (sender, receiver) = watch::channel(0);
        let watcher = gmp_exec::spawn(async move {
            let seen: Vec<i32> = WatchStream::new(receiver).collect().await;
            assert!(seen.is_sorted(), "{seen:?}");
            seen.last().copied()
        });
        for value in 1..=100 {
            sender.send(value).expect("a receiver watches");
            gmp_exec::task::yield_now().await;
        }
        drop(sender);
        assert_eq!(watcher.await.expect("a watcher"), Some(100));
    });
}

#[test]
fn who_lags_behind_is_told_how_far() {
    on_gmp(|| async {
        let (sender, receiver) = broadcast::channel(4);
        let mut stream = BroadcastStream::new(receiver);
        for i in 0..10 {
            sender.send(i).expect("the receiver is there");
        }
        drop(sender);
        assert_eq!(stream.next().await, Some(Err(BroadcastStreamRecvError::Lagged(6))));
        assert_eq!(stream.collect::<Vec<_>>().await, [Ok(6), Ok(7), Ok(8), Ok(9)]);
    });
}
