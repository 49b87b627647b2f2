//! A poll that is under way when the runtime ends does not notice the end.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};
use std::{io, thread};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use gmp_exec::netpoll::Netpoll;
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::{block_in_place, blocking};
use gmp_exec::time::sleep;

use crate::faults::{every_kind, is_current, message, panic_message};
use crate::support::{FOREVER, Flag, Watchdog, busy_wait_until, wait_until};

/// How long a poll goes on after the shutdown has begun. Longer times only make it more likely that
/// a fault is found.
const WHILE: Duration = Duration::from_millis(20);

/// How a poll spends the time until the runtime ends.
type Wait = fn(&mut dyn FnMut() -> bool);

/// In the first way the poll keeps its processor, in the second the thread sleeps and loses it.
const WAITS: [Wait; 2] = [|condition| busy_wait_until(condition), |condition| wait_until(condition)];

/// Runs `body` repeatedly in a poll that begins before the runtime ends and goes on afterwards.
/// Returns the message of its panic.
fn in_the_last_poll(runtime: Runtime, wait: Wait, mut body: impl FnMut() + Send + 'static) -> Option<String> {
    let _watchdog = Watchdog::of(&runtime);
    let (begun, told) = (Flag::new(), Arc::new(Mutex::new(None)));
    let is_dropped = Flag::new();
    let _task = runtime.spawn({
        let (begun, told) = (begun.clone(), told.clone());
        let handle = runtime.handle().clone();
        poll_fn(move |_| {
            begun.set();
            wait(&mut || handle.is_shut_down());
            let since = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| {
                while since.elapsed() < WHILE {
                    body()
                }
            }));
            *told.lock().unwrap() = result.err().map(|payload| message(&*payload));
            Poll::<()>::Pending
        })
    });
    thread::scope(|scope| {
        if is_current(&runtime) {
            let (handle, is_dropped) = (runtime.handle().clone(), is_dropped.clone());
            // This thread polls the task. The drop does not wait for it.
            scope.spawn(move || handle.block_on(async { wait_for(&is_dropped).await }));
        }
        begun.wait();
        drop(runtime);
        wait_until(|| Arc::strong_count(&told) == 1);
        is_dropped.set();
    });
    told.lock().unwrap().take()
}

async fn wait_for(flag: &Flag) {
    let flag = flag.clone();
    let (send, receive) = tokio::sync::oneshot::channel();
    thread::spawn(move || {
        flag.wait();
        let _ = send.send(());
    });
    let _ = receive.await;
}

#[test]
fn timers_do_not_end_before_the_last_poll() {
    for runtime_kind in every_kind().iter_mut() {
        for wait in WAITS {
            let runtime = runtime_kind.build().unwrap();
            let handle = runtime.handle().clone();
            let told = in_the_last_poll(runtime, wait, move || {
                let _entered = handle.enter();
                // The waker is not the task's.
                let mut timers: FuturesUnordered<_> = [sleep(FOREVER)].into_iter().collect();
                let next = pin!(timers.next());
                assert!(futures::FutureExt::now_or_never(next).is_none(), "it is not due");
            });
            assert_eq!(told, None);
        }
    }
}

/// Counts how often it was shut down.
#[derive(Clone, Default)]
struct Probe(Arc<AtomicUsize>);

impl Netpoll for Probe {
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        thread::sleep(timeout.unwrap_or(WHILE).min(WHILE));
        Ok(())
    }

    fn wake(&self) {}

    fn shutdown(&self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn the_network_ends_once_and_after_the_last_poll() {
    for runtime_kind in every_kind().iter_mut() {
        for wait in WAITS {
            let runtime = runtime_kind.build().unwrap();
            let probe = Probe::default();
            let _ = runtime.handle().netpoll(|| Ok(probe.clone())).unwrap();
            let count = probe.0.clone();
            let told = in_the_last_poll(runtime, wait, move || assert_eq!(count.load(SeqCst), 0, "it has ended"));
            assert_eq!(told, None);
            assert_eq!(probe.0.load(SeqCst), 1);
        }
    }
}

type Section = fn(Box<dyn FnOnce()>);

/// A section may wait for a timer of its own runtime. The shutdown must not wait for the section,
/// because that would be a deadlock. In the rest of the poll the timers have ended, so the future
/// waits until it is dropped.
#[test]
fn a_task_that_comes_out_of_a_section_after_the_end_is_dropped() {
    for runtime_kind in every_kind().iter_mut() {
        let sections: [Section; 2] = [block_in_place, blocking];
        for section in sections {
            let runtime = runtime_kind.build().unwrap();
            if is_current(&runtime) {
                continue;
            }
            let _watchdog = Watchdog::of(&runtime);
            let begun = Flag::new();
            let is_begun = begun.clone();
            let dropped = Arc::new(());
            let is_dropped = dropped.clone();
            let task = runtime.spawn(async move {
                let _is_dropped = is_dropped;
                section(Box::new(move || {
                    is_begun.set();
                    let told = panic_message(|| Handle::current().block_on(sleep(FOREVER)));
                    assert!(told.contains("being shutdown"), "{told}");
                }));
                sleep(FOREVER).await;
            });
            begun.wait();
            drop(runtime);
            assert_eq!(Arc::strong_count(&dropped), 1);
            assert!(futures::executor::block_on(task).unwrap_err().is_cancelled());
        }
    }
}

/// `shutdown_background` does not wait, and futures outside of the runtime panic after the last
/// poll has ended.
#[test]
fn in_the_background_too() {
    for runtime_kind in every_kind().iter_mut() {
        let runtime = runtime_kind.build().unwrap();
        if is_current(&runtime) {
            continue;
        }
        let _watchdog = Watchdog::of(&runtime);
        let (begun, end) = (Flag::new(), Flag::new());
        let probe = Probe::default();
        let _ = runtime.handle().netpoll(|| Ok(probe.clone())).unwrap();
        runtime.spawn({
            let (begun, end) = (begun.clone(), end.clone());
            async move {
                begun.set();
                end.wait();
                pending::<()>().await;
            }
        });
        begun.wait();
        runtime.shutdown_background();
        assert_eq!(probe.0.load(SeqCst), 0);
        end.set();
        wait_until(|| probe.0.load(SeqCst) == 1);
    }
}
