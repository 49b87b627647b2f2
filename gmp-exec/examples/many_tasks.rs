//! How long a walk over many tasks takes, and what it does to a task beside it.
//!
//!     cargo run --release -p gmp-exec --example many_tasks -- 1000000

use std::fs;
use std::future::pending;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::time::interval;

const WALKS: usize = 20;

fn main() {
    let count = std::env::args().nth(1).map_or(100_000, |text| text.parse().expect("a number of tasks"));
    let runtime = Runtime::new().expect("a runtime");
    let tasks: Vec<_> = (0..count).map(|_| runtime.spawn(pending::<()>())).collect();
    while runtime.handle().tasks().filter(|info| info.age.is_some()).count() < count {
        thread::yield_now();
    }
    println!("a ticker alone: {}", ticker(&runtime, || thread::sleep(Duration::from_secs(2))));
    let (before, mut times) = (resident(), Vec::new());
    let beside = ticker(&runtime, || times = (0..WALKS).map(|_| walk(runtime.handle(), tasks.len())).collect());
    times.sort();
    println!("a ticker beside {WALKS} walks: {beside}");
    println!("a walk over {count} tasks: median {:?}, longest {:?}", times[WALKS / 2], times[WALKS - 1]);
    println!("memory: {} KiB more", resident().saturating_sub(before));
}

fn walk(handle: &Handle, count: usize) -> Duration {
    let start = Instant::now();
    let groups = handle.tasks().groups();
    let time = start.elapsed();
    assert!(groups.groups[0].count == count, "{groups}");
    time
}

/// How late a task is that wakes up every millisecond, while `f` runs on this thread.
fn ticker(runtime: &Runtime, f: impl FnOnce()) -> String {
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let task = runtime.spawn(async move {
        let (mut ticks, mut late) = (interval(Duration::from_millis(1)), Vec::new());
        while stopped.try_recv().is_err() {
            let due = ticks.tick().await;
            late.push(due.elapsed());
        }
        late
    });
    f();
    stop.send(()).expect("the ticker runs");
    let mut late = runtime.block_on(task).expect("the ticker does not panic");
    late.sort();
    format!("p50 {:?}, p99 {:?}, longest {:?}", late[late.len() / 2], late[late.len() * 99 / 100], late[late.len() - 1])
}

/// The memory of this process, in KiB.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split(' ').nth(1).expect("the second number").parse::<u64>().expect("a number of pages") * 4
}
