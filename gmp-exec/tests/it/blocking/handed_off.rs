//! A processor leaves its thread: its work goes on elsewhere, and the thread no longer accesses it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, block_in_place, yield_now};
use gmp_exec::time::sleep;

use crate::support::{Flag, Hog, multi, run, taken, wait_until};

/// The processor's queue, its `runnext` and its timers go on while its machine is in a blocking
/// section.
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

/// A thread without a processor must not access a local queue: tasks that a poll wakes after its
/// processor was taken go to the global queue, and machines are woken for them. More tasks than a
/// local queue holds, from a poll that blocks and from one that computes.
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
            // With a second processor, its machine may steal the tasks.
            assert!(processors == 2 || taken(&runtime) != (0, 0));
        }
    }
}

/// A machine calls foreign wakers from its own code, which goes on with the processor afterwards. A
/// blocking section inside a waker must not make the machine hand off the processor.
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
