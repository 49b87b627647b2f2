//! The current-thread flavour: the driving thread, the pool that runs closures, and wake-ups from
//! outside.

use std::time::Duration;

use crate::runtime::Builder;
use crate::sched::tests::crowd::{Stage, explore, shut_down};
use crate::sched::tests::gate::Gate;
use crate::task::{spawn, spawn_blocking};
use crate::time::{Instant, sleep};

fn runtime(paused: bool) -> Stage {
    let mut builder = Builder::new_current_thread();
    Stage::of(builder.enable_all().start_paused(paused).max_blocking_threads(2).build().unwrap())
}

/// The driving thread sleeps while closures run, and while another thread spawns.
#[test]
fn shuttle_current_thread_is_woken_from_outside() {
    explore(|| {
        let runtime = runtime(false);
        let gate = Gate::default();
        let handle = runtime.handle().clone();
        let outside = shuttle::thread::spawn({
            let gate = gate.clone();
            move || handle.spawn(async move { gate.open() })
        });
        runtime.block_on(async {
            let closures = [spawn_blocking(move || gate.wait()), spawn_blocking(|| ()), spawn_blocking(|| ())];
            spawn(async {}).await.unwrap();
            for closure in closures {
                closure.await.unwrap();
            }
        });
        runtime.block_on(outside.join().unwrap()).unwrap();
        shut_down(runtime);
    });
}

/// A paused clock jumps to the next timer, but not while a closure may still wake a task before it.
#[test]
fn shuttle_current_thread_paused_clock_waits_for_closures() {
    explore(|| {
        let runtime = runtime(true);
        runtime.block_on(async {
            let begin = Instant::now();
            let closure = spawn_blocking(Instant::now);
            let sleeper = spawn(sleep(Duration::from_secs(1)));
            assert_eq!(closure.await.unwrap(), begin);
            assert_eq!(begin.elapsed(), Duration::ZERO, "what the closure woke comes before the timer");
            sleeper.await.unwrap();
            assert_eq!(begin.elapsed(), Duration::from_secs(1));
        });
        shut_down(runtime);
    });
}
