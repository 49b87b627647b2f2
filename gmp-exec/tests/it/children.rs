//! A child process is the same, whichever thread of the runtime has started it, as one that a
//! thread of the standard library has started. So is a thread that the program starts.
//!
//! Not compared is the time slice, which both inherit for a while after a long poll
//! (docs/settings.md).

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, spawn_blocking, spawn_blocking_in_place};
use gmp_exec::time::sleep;
use rustix::process::{dumpable_behavior, parent_process_death_signal};
use rustix::thread::{capabilities_secure_bits, current_timer_slack, get_keep_capabilities};

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

/// What differs between threads of one process, too: a thread is called like the thread that
/// started it.
const OF_THREAD: &[&str] = &["Name:", "Threads:"];

/// What a child and a thread that the calling thread starts have inherited.
fn inherited() -> [Vec<String>; 2] {
    [by_child(), thread::spawn(by_thread).join().unwrap()]
}

fn by_child() -> Vec<String> {
    let files = ["status", "limits", "timerslack_ns", "cgroup", "coredump_filter", "oom_score_adj", "personality"];
    let files = files.map(|file| format!("/proc/self/{file}")).join(" ");
    let script = format!(
        "cat {files}; readlink /proc/self/cwd /proc/self/root /proc/self/ns/*; ls /proc/self/fd; cat /proc/self/stat"
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut lines = lines(&String::from_utf8(output.stdout).unwrap());
    let stat = lines.pop().unwrap();
    lines.push(inherited_of(&stat));
    lines
}

fn by_thread() -> Vec<String> {
    let read = |file| fs::read_to_string(format!("/proc/thread-self/{file}")).unwrap();
    let mut lines = lines(&read("status"));
    lines.retain(|line| !OF_THREAD.iter().any(|own| line.starts_with(own)));
    lines.push(inherited_of(&read("stat")));
    let [slack, keeps] = [current_timer_slack().ok(), get_keep_capabilities().ok().map(u64::from)];
    lines.push(format!("{slack:?} {keeps:?} {:?}", capabilities_secure_bits()));
    lines.push(format!("{:?} {:?}", parent_process_death_signal(), dumpable_behavior()));
    lines
}

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !OWN.iter().any(|own| line.starts_with(own))).map(str::to_owned).collect()
}

fn inherited_of(stat: &str) -> String {
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    OF_STAT.map(|field| fields[field]).join(" ")
}

#[test]
fn children_and_threads_have_inherited_nothing_of_the_runtime() {
    in_children("children::children_and_threads_have_inherited_nothing_of_the_runtime", 0..3, |case| {
        // The first runtime installs a handler of SIGURG, which all threads of the process have.
        drop(multi(1).build().unwrap());
        let plain = thread::spawn(inherited).join().unwrap();
        let runtime = [multi(2), multi(1), current()][case].build().unwrap();
        for child in children_of(&runtime) {
            assert_eq!(child, plain, "{:?}", child.iter().flatten().zip(plain.iter().flatten()).find(|(a, b)| a != b));
        }
    });
}

/// Also after long polls, and after sleeps in which timers were waited for.
fn children_of(runtime: &Runtime) -> Vec<[Vec<String>; 2]> {
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
