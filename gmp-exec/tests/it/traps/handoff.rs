//! A processor that leaves its thread: what belongs to it goes on elsewhere, and the thread touches it no more.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, block_in_place, yield_now};
use gmp_exec::time::sleep;

use super::Hog;
use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, blocked_until, multi, run, taken, wait_until};

/// Who gives a processor on must do so for the same reasons for which a search would have stopped. With the last running
/// processor, somebody must be left who waits for the network.
#[test]
fn somebody_waits_for_the_network_while_the_last_processor_is_in_a_blocking_section() {
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            let runtime = multi(processors).sysmon(has_sysmon).build().unwrap();
            let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
            let waiter = netpoll.clone();
            let waiting = runtime.spawn(async move { waiter.wait().await });
            wait_until(|| netpoll.waiting() == 1);
            blocked_until(&runtime, || {
                netpoll.make_ready();
                wait_until(|| waiting.is_finished());
            });
        }
    }
}

/// The same for what is queued already, in the ring or in `runnext`, and for a timer.
#[test]
fn work_of_the_processor_goes_on_during_a_blocking_section() {
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            let runtime = multi(processors).sysmon(has_sysmon).build().unwrap();
            run(&runtime, async {
                let timer = spawn(sleep(Duration::from_millis(1)));
                yield_now().await;
                let queued: Vec<_> = (0..3).map(|_| spawn(async {})).collect();
                block_in_place(|| {
                    wait_until(|| queued.iter().all(JoinHandle::is_finished));
                    wait_until(|| timer.is_finished());
                });
            });
        }
    }
}

/// A thread without a processor must not touch a ring: what a poll wakes after its processor was taken goes to the
/// global queue, and machines are started for it. More tasks than a ring holds, from one that blocks and one that
/// computes.
#[test]
fn a_poll_without_its_processor_can_spawn_and_wake() {
    for hog in [Hog::Blocks, Hog::Computes] {
        for processors in [1, 2] {
            let runtime = multi(processors).build().unwrap();
            let counters = runtime.handle().clone();
            let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
            let receiver = runtime.spawn(async move {
                let mut received = 0;
                while receive.recv().await.is_some() {
                    received += 1;
                }
                received
            });
            run(&runtime, async move {
                // Something must wait for the processor, or it is not taken.
                let waiting: Vec<_> = (0..2 * counters.metrics().num_workers()).map(|_| spawn(async {})).collect();
                hog.hold_on_until(|| waiting.iter().all(JoinHandle::is_finished));
                let spawned: Vec<_> = (0..1_000).map(|_| spawn(async {})).collect();
                (0..1_000).for_each(|i| send.send(i).unwrap());
                drop(send);
                hog.hold_on_until(|| spawned.iter().all(JoinHandle::is_finished) && receiver.is_finished());
                assert_eq!(receiver.await.unwrap(), 1_000);
            });
            // With a second processor there is somebody to steal.
            assert!(processors == 2 || taken(&runtime) != (0, 0));
        }
    }
}

/// Wakers of foreign make are called by the machine's own code, which goes on with the processor afterwards. One that declares
/// a blocking section must not make the machine give it on.
#[test]
fn a_blocking_section_inside_a_waker_leaves_the_processor_where_it_is() {
    struct Blocks {
        woken: Flag,
        others_ran: AtomicUsize,
    }
    impl Wake for Blocks {
        fn wake(self: Arc<Self>) {
            let other = Flag::new();
            spawn({
                let other = other.clone();
                async move { other.set() }
            });
            let ran = block_in_place(|| other.wait_for(Duration::from_millis(100)));
            self.others_ran.store(usize::from(ran), SeqCst);
            self.woken.set();
        }
    }
    let runtime = multi(1).sysmon(false).build().unwrap();
    for _ in 0..3 {
        let blocks = Arc::new(Blocks { woken: Flag::new(), others_ran: AtomicUsize::new(0) });
        run(&runtime, {
            let blocks = blocks.clone();
            async move {
                let waker = Waker::from(blocks.clone());
                let mut timer = Box::pin(sleep(Duration::from_millis(5)));
                assert!(timer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                while !blocks.woken.is_set() {
                    yield_now().await;
                }
            }
        });
        assert_eq!(blocks.others_ran.load(SeqCst), 0, "the only processor was the waker's");
    }
}
