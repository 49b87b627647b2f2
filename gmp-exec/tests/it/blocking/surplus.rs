//! Threads that a burst of blocked polls has needed end after their keep-alive, although the runtime
//! goes on working.

use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::time::sleep;

use crate::support::{Flag, multi, run, wait_until};

const KEEP_ALIVE: Duration = Duration::from_millis(50);

/// As many machines as processors, plus one that is woken while the others work.
const FEW: usize = 3;

/// Blocks a hundred threads at the same time.
fn burst(runtime: &Runtime) {
    let end = Flag::new();
    let polls = Vec::from_iter((0..100).map(|_| {
        let end = end.clone();
        runtime.spawn(async move { end.wait() })
    }));
    wait_until(|| runtime.metrics().num_machines() > 100);
    end.set();
    run(runtime, async move {
        for poll in polls {
            poll.await.unwrap();
        }
    });
}

fn assert_machines_end_beside(runtime: &Runtime, work: impl Future<Output = ()> + Send + 'static) {
    let work = runtime.spawn(work);
    burst(runtime);
    wait_until(|| runtime.metrics().num_machines() <= FEW);
    work.abort();
}

fn runtime() -> Runtime {
    multi(2).thread_keep_alive(KEEP_ALIVE).build().unwrap()
}

#[test]
fn machines_end_beside_a_task_that_ticks() {
    assert_machines_end_beside(&runtime(), async {
        loop {
            sleep(Duration::from_millis(1)).await;
        }
    });
}

/// Each tick wakes a machine, and any of several may be the one.
#[test]
fn machines_end_beside_tasks_that_are_spawned_now_and_then() {
    assert_machines_end_beside(&runtime(), async {
        loop {
            sleep(Duration::from_millis(1)).await;
            let [one, other] = [(); 2].map(|()| spawn(async { thread::yield_now() }));
            one.await.unwrap();
            other.await.unwrap();
        }
    });
}
