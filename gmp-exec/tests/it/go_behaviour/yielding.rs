//! Who gives his turn away gets it back, and the others theirs.

use std::time::Duration;

use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;
use gmp_exec::{spawn, task};
use tokio::sync::mpsc;

use super::every_kind;
use crate::support::{multi, run};

/// Go: `TestYieldProgress`, `TestYieldLockedProgress`.
#[test]
fn a_task_that_yields_in_a_loop_lets_the_one_it_waits_for_run() {
    for runtime in every_kind() {
        run(&runtime, async {
            let (send, mut receive) = mpsc::unbounded_channel();
            let waiter = spawn(async move {
                while receive.try_recv().is_err() {
                    yield_now().await;
                }
            });
            sleep(Duration::from_millis(10)).await;
            send.send(()).unwrap();
            waiter.await.unwrap();
        });
    }
}

/// Go: `TestYieldLocked`, `TestBlockLocked`. The locked thread is here a declared blocking section.
#[test]
fn turns_inside_a_blocking_section_all_come() {
    let runtime = multi(2).build().unwrap();
    let handle = runtime.handle().clone();
    run(&runtime, async move {
        let (send, mut receive) = mpsc::channel(1);
        let sender = spawn(async move {
            task::block_in_place(|| {
                handle.block_on(async {
                    for turn in 0..10 {
                        yield_now().await;
                        sleep(Duration::from_micros(10)).await;
                        send.send(turn).await.unwrap();
                    }
                })
            });
        });
        for turn in 0..10 {
            assert_eq!(receive.recv().await, Some(turn));
        }
        sender.await.unwrap();
    });
}
