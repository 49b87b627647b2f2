//! As many polls run at a time as there are processors. Without sysmon, so that only the wake-ups
//! can bring this about.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;

use crate::fake_netpoll::FakeNetpoll;
use crate::futures::join;
use crate::support::{busy_wait_until, compute_for, multi, run};

/// Go: `TestGoroutineParallelism`. Without sysmon, so that only the wake-ups keep every processor
/// busy.
#[test]
fn as_many_polls_run_at_a_time_as_there_are_processors() {
    let runtime = multi(4).sysmon(false).build().unwrap();
    for _ in 0..10 {
        let token = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..4).map(|place| runtime.spawn(pass_token(token.clone(), place, 4))).collect();
        run(&runtime, join(tasks));
    }
}

/// Waits for the token by computing and passes it on, three rounds, all in one poll. Offers the
/// core to other threads all the time, because there may be fewer cores than processors.
async fn pass_token(token: Arc<AtomicUsize>, place: usize, places: usize) {
    for lap in 0..3 {
        busy_wait_until(|| {
            thread::yield_now();
            token.load(SeqCst) == lap * places + place
        });
        token.fetch_add(1, SeqCst);
    }
}

/// Go: `TestGoroutineParallelism2`, with and without load, with and without a netpoll (Go #45867).
#[test]
fn parallelism_holds_while_machines_begin_to_park() {
    for (load, has_netpoll) in [(false, false), (true, false), (false, true), (true, true)] {
        let runtime = multi(4).sysmon(false).build().unwrap();
        if has_netpoll {
            runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        }
        for _ in 0..25 {
            if load {
                warm_up(&runtime);
            }
            // Each task spawns the next one and then waits: the new task is in `runnext` until the
            // wait yields.
            let token = Arc::new(AtomicUsize::new(0));
            run(&runtime, spawn_nested(token, 0));
        }
    }
}

fn spawn_nested(token: Arc<AtomicUsize>, place: usize) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if place < 4 {
            let own = spawn(pass_token(token.clone(), place, 4));
            spawn(spawn_nested(token, place + 1)).await.unwrap();
            own.await.unwrap();
        }
    })
}

/// Makes all machines run a task, so that they search for more work and find none.
fn warm_up(runtime: &Runtime) {
    let tasks = (0..8).map(|_| runtime.spawn(async { compute_for(Duration::from_micros(20)) })).collect();
    run(runtime, join(tasks));
}

/// Go: `TestBigGOMAXPROCS`.
#[test]
fn far_more_processors_than_cores_work() {
    for processors in [64, 256, 1024] {
        let runtime = multi(processors).build().unwrap();
        let sum: u64 = run(&runtime, async move {
            let spawner = |i: u64| async move { join((0..10).map(|j| spawn(async move { i * j })).collect()).await };
            let spawners = (0..processors as u64).map(|i| spawn(spawner(i))).collect();
            join(spawners).await.into_iter().flatten().sum()
        });
        let processors = processors as u64;
        assert_eq!(sum, 45 * processors * (processors - 1) / 2);
    }
}
