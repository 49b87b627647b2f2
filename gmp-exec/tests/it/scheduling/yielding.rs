//! A task that yields lets other tasks run, and runs again itself.

use std::time::Duration;

use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;
use gmp_exec::{spawn, task};
use tokio::sync::mpsc;

use crate::support::{Flag, every_runtime, multi, run, wait_until_idle};

/// Go: `TestYieldProgress`, `TestYieldLockedProgress`.
#[test]
fn a_task_that_yields_in_a_loop_lets_the_task_it_waits_for_run() {
    for runtime in every_runtime() {
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

/// Go: `TestYieldLocked`, `TestBlockLocked`, with a declared blocking section in place of the
/// locked thread.
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

/// A task that goes back to the queue because it yields must wake a machine, too (Go's
/// `goschedImpl` once did not).
#[test]
fn a_task_that_has_yielded_is_taken_over_by_an_idle_processor() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    for _ in 0..200 {
        wait_until_idle(&runtime);
        run(&runtime, async {
            let flag = Flag::new();
            let waiter = flag.clone();
            // In `runnext` of this processor, which will be busy with it until the flag is set.
            let busy = spawn(async move { waiter.wait() });
            yield_now().await;
            flag.set();
            busy.await.unwrap();
        });
    }
}
