//! A child process is the same, whichever thread of the runtime has started it, as one that a
//! thread of the standard library has started.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, spawn_blocking, spawn_blocking_in_place};
use gmp_exec::time::sleep;

use crate::support::{compute_for, current, in_children, multi, run};

/// What differs between any two processes.
const OWN: &[&str] = &[
    "Tgid:",
    "Ngid:",
    "Pid:",
    "PPid:",
    "NStgid:",
    "NSpid:",
    "NSpgid:",
    "NSsid:",
    "State:",
    "SigQ:",
    "Vm",
    "Rss",
    "voluntary_",
    "nonvoluntary_",
];

/// priority, nice value, blocked, ignored and caught signals, realtime priority, policy: their
/// places in proc_pid_stat(5) after the name.
const OF_STAT: [usize; 7] = [15, 16, 28, 29, 30, 37, 38];

/// What a child that the calling thread starts has inherited.
fn inherited() -> Vec<String> {
    let script =
        "cat /proc/self/status /proc/self/limits /proc/self/timerslack_ns; ls /proc/self/fd; cat /proc/self/stat";
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let stat = lines.pop().unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    lines.push(OF_STAT.map(|field| fields[field]).join(" "));
    lines.retain(|line| !OWN.iter().any(|own| line.starts_with(own)));
    lines
}

#[test]
fn a_child_has_inherited_nothing_of_the_runtime() {
    in_children("children::a_child_has_inherited_nothing_of_the_runtime", 0..3, |case| {
        let plain = thread::spawn(inherited).join().unwrap();
        let runtime = [multi(2), multi(1), current()][case].build().unwrap();
        for child in children_of(&runtime) {
            assert_eq!(child, plain);
        }
    });
}

/// Also after long polls, and after sleeps in which timers were waited for.
fn children_of(runtime: &Runtime) -> Vec<Vec<String>> {
    let is_multi = runtime.metrics().num_workers() > 1;
    let mut children = vec![run(runtime, async { inherited() }), runtime.block_on(async { inherited() })];
    children.extend(run(runtime, async move {
        let polls = [(); 4].map(|()| spawn(async { thread::sleep(Duration::from_millis(30)) }));
        let computes = spawn(async { compute_for(Duration::from_millis(100)) });
        let mut children = Vec::new();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(100) {
            sleep(Duration::from_millis(2)).await;
            children.push(inherited());
        }
        children.push(spawn_blocking(inherited).await.unwrap());
        children.push(spawn_blocking_in_place(inherited).await.unwrap());
        if is_multi {
            children.push(block_in_place(inherited));
        }
        for task in polls.into_iter().chain([computes]) {
            task.await.unwrap();
        }
        children
    }));
    children
}
