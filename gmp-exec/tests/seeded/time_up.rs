//! A run that takes too much real time says where the thread is that keeps its turn.

use std::hint::spin_loop;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::*;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::spawn_blocking;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::child::command;

const SPINS: &str = "spins";
const FIRST_LINE: u32 = line!() + 5;

/// No other thread has the turn meanwhile, so nobody sets the flag.
fn spin() {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    println!("{SPINS}");
    while !IS_SET.load(Relaxed) {
        spin_loop();
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).build().unwrap()
}

const LINE_OF_SPAWN: u32 = line!() + 3;
pub(crate) fn task_spins() {
    let runtime = runtime();
    let task = runtime.spawn(async { spin() });
    runtime.block_on(task).unwrap();
}

pub(crate) fn closure_spins() {
    runtime().block_on(async { spawn_blocking(spin).await.unwrap() });
}

/// Whether the child has ended.
fn has_ended(child: &Child, limit: Duration) -> bool {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap();
    let limit = Timespec::try_from(limit).unwrap();
    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&limit))).unwrap() > 0
}

/// Lets the scenario spin and asks it to end, until it ends. Returns what it said then.
fn ended(scenario: &str, seed: u64) -> String {
    let mut child = command(scenario, seed).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    assert!(stdout.lines().any(|line| line.unwrap().ends_with(SPINS)), "{scenario} under {seed} does not begin");
    let asks = (0..600).take_while(|_| {
        kill_process(Pid::from_child(&child), Signal::VTALARM).unwrap();
        !has_ended(&child, Duration::from_millis(100))
    });
    let asks = asks.count();
    child.kill().unwrap();
    let (status, mut stderr) = (child.wait().unwrap(), String::new());
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(status.code(), Some(101), "{scenario} under {seed}, after {asks} asks: {stderr}");
    stderr
}

#[test]
fn a_loop_that_spins_is_told_with_its_line_and_its_task() {
    for seed in 0..8 {
        let said = ended("task_spins", seed);
        assert!(said.starts_with(&format!("gmp: seed {seed:x}: time is up: thread ")), "{said}");
        let line = said.lines().next().unwrap();
        let spawned = format!(", spawned at gmp-exec/tests/seeded/time_up.rs:{LINE_OF_SPAWN}");
        assert!(line.contains(", in task ") && line.ends_with(&spawned), "{said}");
        // The signal may come before the loop begins.
        let lines = (FIRST_LINE..FIRST_LINE + 3).map(|line| format!("seeded/time_up.rs:{line}, "));
        let is_known = cfg!(feature = "blocked-stacks");
        assert_eq!(lines.into_iter().any(|place| line.contains(&place)), is_known, "{said}");
        assert!(said.contains("\ngmp: thread 0 "), "the other threads, too: {said}");
    }
}

#[test]
fn a_closure_that_spins_is_told_with_its_thread() {
    for seed in 0..8 {
        let said = ended("closure_spins", seed);
        assert!(said.contains(": time is up: thread ") && said.contains(" has the turn"), "{said}");
        assert_eq!(said.contains("/time_up.rs:"), cfg!(feature = "blocked-stacks") || said.contains(", in task "));
    }
}
