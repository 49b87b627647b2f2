//! tokio-stream's parts that belong to tokio's runtime: timers, listeners, signals, tasks.

use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{
    BroadcastStream, IntervalStream, JoinSetStream, SignalStream, TcpListenerStream, WatchStream,
};

use crate::support::{listen, on_gmp};

const PERIOD: Duration = Duration::from_millis(5);

#[test]
fn a_stream_ticks() {
    on_gmp(|| async {
        let start = Instant::now();
        let ticks: Vec<_> = IntervalStream::new(interval(PERIOD)).take(5).collect().await;
        assert!(start.elapsed() >= 4 * PERIOD);
        assert!(ticks.windows(2).all(|pair| pair[1] - pair[0] >= PERIOD), "{ticks:?}");
    });
}

#[test]
fn a_stream_is_throttled() {
    on_gmp(|| async {
        let start = Instant::now();
        let stream = tokio_stream::iter(0..5).throttle(PERIOD);
        assert_eq!(stream.collect::<Vec<_>>().await, [0, 1, 2, 3, 4]);
        assert!(start.elapsed() >= 4 * PERIOD, "{:?}", start.elapsed());
    });
}

#[test]
fn a_stream_that_pauses_is_noticed_and_cut_into_chunks() {
    on_gmp(|| async {
        let (sender, receiver) = watch::channel(0);
        let mut numbers = Box::pin(WatchStream::new(receiver).timeout(PERIOD));
        assert_eq!(numbers.next().await.expect("a number").expect("in time"), 0);
        numbers.next().await.expect("not the end").expect_err("nothing came");
        sender.send(1).expect("the receiver is there");
        assert_eq!(numbers.next().await.expect("a number").expect("in time"), 1);

        let (sender, receiver) = broadcast::channel(8);
        let mut chunks = Box::pin(BroadcastStream::new(receiver).chunks_timeout(3, PERIOD));
        for number in 0..4 {
            sender.send(number).expect("the receiver is there");
        }
        let mut next = async || {
            let chunk = chunks.next().await.expect("a chunk");
            chunk.into_iter().map(|number| number.expect("none lost")).collect::<Vec<_>>()
        };
        assert_eq!(next().await, [0, 1, 2]);
        assert_eq!(next().await, [3], "cut short by time");
    });
}

#[test]
fn connections_come_as_a_stream() {
    on_gmp(|| async {
        let (listener, address) = listen().await;
        let serving = tokio::spawn(async move {
            let mut connections = TcpListenerStream::new(listener).take(20);
            while let Some(stream) = connections.next().await {
                let mut stream = stream.expect("accepted");
                let number = stream.read_u32().await.expect("read");
                stream.write_u32(2 * number).await.expect("written");
            }
        });
        for number in 0..20 {
            let mut stream = TcpStream::connect(address).await.expect("connected");
            stream.write_u32(number).await.expect("written");
            assert_eq!(stream.read_u32().await.expect("read"), 2 * number);
        }
        serving.await.expect("a clean end");
    });
}

#[test]
fn signals_come_as_a_stream() {
    on_gmp(|| async {
        let mut signals = SignalStream::new(signal(SignalKind::window_change()).expect("a listener"));
        for _ in 0..3 {
            kill_process(getpid(), Signal::WINCH).expect("sent");
            signals.next().await.expect("not the end");
        }
    });
}

#[test]
fn tasks_come_as_a_stream() {
    on_gmp(|| async {
        let set: JoinSet<_> = (0..20).map(|number| async move { number }).collect();
        let results = JoinSetStream::new(set).map(|result| result.expect("no panic"));
        let mut numbers: Vec<i32> = results.collect().await;
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..20));
    });
}
