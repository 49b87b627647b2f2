//! The address space is limited, as by `ulimit -v`. Threads for blocked polls, and for closures,
//! must leave enough of it for the program.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::spawn_blocking;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{Watchdog, current, in_children, multi};

const CASES: std::ops::Range<usize> = 0..8;

/// Without the limit, each of them would get a thread. What is left to the process ends at all
/// places of the arenas that glibc reserves for threads (64 MB each).
#[test]
fn blocked_polls_leave_memory_to_the_program() {
    in_children("faults::no_memory::blocked_polls_leave_memory_to_the_program", CASES, |case| {
        let runtime = multi(2).build().unwrap();
        // Its thread reserves an arena, too: not at some moment after the limit.
        let _watchdog = Watchdog::of(&runtime);
        occupy_both_processors(&runtime);
        leave((40 + 37 * case as u64) << 20);
        let all = runtime.spawn(async {
            let tasks = Vec::from_iter((0..400).map(|_| spawn(async { block_and_allocate() })));
            let mut kept = Vec::new();
            for task in tasks {
                kept.push(task.await.unwrap());
            }
            kept
        });
        let kept = runtime.block_on(all).unwrap();
        assert_eq!(kept.len(), 400);
    });
}

/// Some of the closures wait for others, and the first one is run whatever is left.
#[test]
fn closures_leave_memory_to_the_program() {
    in_children("faults::no_memory::closures_leave_memory_to_the_program", CASES, |case| {
        let is_multi = case % 2 == 1;
        let runtime = if is_multi { multi(2) } else { current() }.build().unwrap();
        if is_multi {
            occupy_both_processors(&runtime);
        }
        leave((40 + 37 * case as u64) << 20);
        let kept = runtime.block_on(async {
            let closures = Vec::from_iter((0..400).map(|_| spawn_blocking(block_and_allocate)));
            let mut kept = Vec::new();
            for closure in closures {
                kept.push(closure.await.unwrap());
            }
            kept
        });
        assert_eq!(kept.len(), 400);
    });
}

/// Starts the threads that the runtime has in any case, which tokio starts when it builds a runtime.
fn occupy_both_processors(runtime: &Runtime) {
    let both = Arc::new(Barrier::new(2));
    let polls = [(); 2].map(|()| {
        let both = both.clone();
        runtime.spawn(async move { _ = both.wait() })
    });
    polls.into_iter().for_each(|poll| runtime.block_on(poll).unwrap());
}

/// Limits the address space to what is used and this many bytes.
fn leave(bytes: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mapped = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")).unwrap();
    let limit = mapped.trim().parse::<u64>().unwrap() * 1024 + bytes;
    setrlimit(Resource::As, Rlimit { current: Some(limit), ..getrlimit(Resource::As) }).unwrap();
}

/// As a task does that reads a file.
fn block_and_allocate() -> Vec<u8> {
    thread::sleep(Duration::from_millis(5));
    vec![1; 20_000]
}
