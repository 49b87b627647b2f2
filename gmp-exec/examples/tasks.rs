//! Which tasks a program has, and what each of them does.
//!
//!     cargo run -p gmp-exec --example tasks
//!
//! Start it with `GMP_DEBUG=sigquit=1` and press Ctrl-\ to see the tasks at any moment.

use std::future::pending;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Handle, TaskGroups, TaskState};
use gmp_exec::{spawn, task, time};

#[gmp_exec::main]
async fn main() {
    let groups = program().await;
    print!("{groups}");
    time::sleep(Duration::from_secs(5)).await;
}

/// Starts the tasks, and says what they do.
async fn program() -> TaskGroups {
    for _ in 0..1_000 {
        spawn(time::sleep(Duration::from_secs(60)));
    }
    let lost = spawn(pending::<()>()); // no waker can reach it any more
    spawn(async { drop(lost.await) });
    spawn(async { thread::sleep(Duration::from_secs(5)) }); // holds its thread
    task::spawn_blocking(|| thread::sleep(Duration::from_secs(5)));
    while count(TaskState::Waiting) < 1_002 || count(TaskState::Running) < 2 {
        time::sleep(Duration::from_millis(20)).await;
    }
    Handle::current().tasks().groups()
}

fn count(state: TaskState) -> usize {
    Handle::current().tasks().filter(|info| info.state == state).count()
}

#[gmp_exec::test(flavor = "multi_thread")]
async fn each_place_is_a_line() {
    let text = program().await.to_string();
    assert!(text.starts_with("1003 tasks and 1 blocking closure\n"), "{text}");
    let is_told = |line: &str, times| assert_eq!(text.matches(line).count(), times, "{line}: {text}");
    is_told("  1000 waiting, spawned at ", 1);
    is_told("  1 waiting, spawned at ", 2);
    is_told("  1 running, spawned at ", 1);
    is_told("  1 closure running, spawned at ", 1);
}
