//! tokio-util's parts that belong to tokio's runtime: timers, tasks, local pools, bridges to
//! blocking code, UDP frames.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::Instant;
use tokio_util::codec::{Framed, LengthDelimitedCodec, LinesCodec};
use tokio_util::future::FutureExt;
use tokio_util::io::SyncIoBridge;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, JoinMap, LocalPoolHandle, TaskTracker};
use tokio_util::time::DelayQueue;
use tokio_util::udp::UdpFramed;

use crate::support::{listen, on_gmp};

#[test]
fn what_is_queued_with_a_delay_comes_in_the_order_of_time() {
    on_gmp(|| async {
        // The queue counts from its creation, which must not be later than the moment from which
        // the test counts.
        let mut queue = DelayQueue::new();
        let start = Instant::now();
        // All delays count from one moment: the order doesn't depend on how quickly they are
        // inserted.
        let after = |millis| start + Duration::from_millis(millis);
        for millis in [30, 10, 20, 40, 10] {
            queue.insert_at(millis, after(millis));
        }
        let removed = queue.insert_at(15, after(15));
        queue.remove(&removed);
        let late = queue.insert(1, Duration::from_secs(3600));
        queue.reset_at(&late, after(25));
        let mut order = Vec::new();
        while let Some(expired) = queue.next().await {
            assert!(start.elapsed() >= expired.deadline() - start);
            order.push(expired.into_inner());
        }
        assert_eq!(order, [10, 10, 20, 1, 30, 40]);
    });
}

#[test]
fn a_tracker_waits_for_tasks_that_a_token_cancels() {
    const TASKS: usize = 100;
    on_gmp(|| async {
        let (tracker, token) = (TaskTracker::new(), CancellationToken::new());
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let token = token.child_token();
                tracker.spawn(async move { token.run_until_cancelled(std::future::pending::<()>()).await })
            })
            .collect();
        let blocking = tracker.spawn_blocking(|| 42);
        tracker.close();
        assert!(tracker.wait().timeout(Duration::from_millis(5)).await.is_err(), "they wait");
        token.cancel();
        tracker.wait().await;
        assert!(tracker.is_empty());
        for task in tasks {
            assert_eq!(task.await.expect("a task"), None);
        }
        assert_eq!(blocking.await.expect("a closure"), 42);
    });
}

#[test]
fn tasks_are_found_by_their_keys() {
    on_gmp(|| async {
        let mut map = JoinMap::new();
        map.spawn("stuck", std::future::pending::<u32>());
        for (key, millis) in [("late", 10), ("early", 1)] {
            map.spawn(key, async move {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                millis as u32
            });
        }
        assert!(map.abort("stuck"));
        let mut ends = Vec::new();
        while let Some((key, result)) = map.join_next().await {
            ends.push((key, result.ok()));
        }
        ends.sort();
        assert_eq!(ends, [("early", Some(1)), ("late", Some(10)), ("stuck", None)]);
    });
}

#[test]
fn a_dropped_handle_aborts_its_task() {
    on_gmp(|| async {
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        let handle = AbortOnDropHandle::new(tokio::spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        }));
        drop(handle);
        dropped.await.expect_err("dropped with the task");
    });
}

/// Each thread of the pool has a `LocalSet`.
#[test]
fn a_local_pool_runs_what_is_not_send() {
    on_gmp(|| async {
        let pool = LocalPoolHandle::new(2);
        let tasks: Vec<_> = (0..20)
            .map(|number: u32| {
                pool.spawn_pinned(move || async move {
                    let count = Rc::new(Cell::new(number));
                    let inner = count.clone();
                    let task = tokio::task::spawn_local(async move {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        inner.set(inner.get() + 1);
                    });
                    task.await.expect("a task");
                    count.get()
                })
            })
            .collect();
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.expect("a task"), number as u32 + 1);
        }
    });
}

/// Code without futures reads lines from a socket, and answers.
#[test]
fn blocking_code_uses_a_socket() {
    on_gmp(|| async {
        let (listener, address) = listen().await;
        let blocking = tokio::task::spawn_blocking({
            let stream = TcpStream::connect(address).await.expect("connected");
            let bridge = SyncIoBridge::new(stream);
            move || {
                let mut reader = BufReader::new(bridge);
                let mut line = String::new();
                while reader.read_line(&mut line).expect("read") > 0 {
                    let answer = std::mem::take(&mut line).to_uppercase();
                    reader.get_mut().write_all(answer.as_bytes()).expect("written");
                    if answer == "BYE\n" {
                        return;
                    }
                }
            }
        });
        let (stream, _) = listener.accept().await.expect("accepted");
        let mut lines = Framed::new(stream, LinesCodec::new());
        for i in 0..100 {
            lines.send(format!("line {i}")).await.expect("sent");
            assert_eq!(lines.next().await.expect("an answer").expect("text"), format!("LINE {i}"));
        }
        lines.send("bye").await.expect("sent");
        assert_eq!(lines.next().await.expect("an answer").expect("text"), "BYE");
        blocking.await.expect("a closure");
        let mut rest = Vec::new();
        lines.into_inner().read_to_end(&mut rest).await.expect("the end");
    });
}

#[test]
fn datagrams_carry_frames() {
    on_gmp(|| async {
        let bind = async || UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        let (near, far) = (bind().await, bind().await);
        let target = far.local_addr().expect("an address");
        let (mut near, mut far) =
            (UdpFramed::new(near, LengthDelimitedCodec::new()), UdpFramed::new(far, LengthDelimitedCodec::new()));
        for size in [1, 100, 8000] {
            let frame = Bytes::from(vec![7; size]);
            near.send((frame.clone(), target)).await.expect("sent");
            let (received, from) = far.next().await.expect("a frame").expect("whole");
            assert_eq!(received, frame);
            far.send((received.freeze(), from)).await.expect("sent");
            assert_eq!(near.next().await.expect("a frame").expect("whole").0, frame);
        }
    });
}
