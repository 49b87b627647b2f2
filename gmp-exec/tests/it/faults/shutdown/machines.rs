//! The shutdown reaches all of the runtime's own threads, wherever they sleep.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use gmp_exec::task::{spawn_blocking, yield_now};

use crate::fake_netpoll::FakeNetpoll;
use crate::faults::every_kind;
use crate::support::{Watchdog, multi, run, wait_until};

#[test]
fn threads_that_start_also_stop() {
    for runtime_kind in every_kind().iter_mut() {
        let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (start, stop) = (started.clone(), stopped.clone());
        runtime_kind.on_thread_start(move || _ = start.fetch_add(1, SeqCst));
        runtime_kind.on_thread_stop(move || _ = stop.fetch_add(1, SeqCst));
        let runtime = runtime_kind.build().unwrap();
        run(&runtime, async {
            let closures: Vec<_> =
                (0..20).map(|_| spawn_blocking(|| thread::sleep(Duration::from_millis(2)))).collect();
            for closure in closures {
                closure.await.unwrap();
            }
        });
        drop(runtime);
        assert!(started.load(SeqCst) > 0);
        assert_eq!(started.load(SeqCst), stopped.load(SeqCst));
    }
}

/// The shutdown must wake the machine that sleeps in the netpoll, even if the machine has only just
/// begun to sleep.
#[test]
fn a_runtime_with_a_netpoll_ends_at_any_moment() {
    for round in 0..1_000 {
        let _watchdog = Watchdog::new();
        let runtime = multi(1 + round % 3).sysmon(false).build().unwrap();
        runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        (0..round % 7).for_each(|_| drop(runtime.spawn(yield_now())));
        (0..round % 100 * 20).for_each(|_| std::hint::spin_loop());
        drop(runtime);
    }
}

/// A netpoll is installed while a machine sleeps without one and is being woken.
#[test]
fn a_netpoll_may_be_installed_while_machines_are_sent_for() {
    for round in 0..1_000 {
        let _watchdog = Watchdog::new();
        let runtime = multi(1 + round % 2).sysmon(false).build().unwrap();
        let metrics = runtime.metrics();
        wait_until(|| metrics.num_idle_workers() == metrics.num_workers());
        thread::scope(|scope| {
            scope.spawn(|| runtime.block_on(runtime.spawn(async {})).unwrap());
            (0..round % 100 * 5).for_each(|_| std::hint::spin_loop());
            runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        });
        runtime.block_on(runtime.spawn(async {})).unwrap();
    }
}
