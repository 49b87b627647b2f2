//! A task that computes or sleeps until its stack was looked for. `profiles.rs` builds this program
//! in profiles that tests can't have.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{BlockedReport, Builder, Handle};

fn main() {
    let holds = match &*std::env::args().nth(1).unwrap() {
        "loop" => computes,
        "call" => calls,
        "sleep" => sleeps,
        other => panic!("{other}"),
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let task = runtime.spawn(outer(holds, is_over.clone()));
    let report = with_stack(runtime.handle());
    is_over.store(true, SeqCst);
    runtime.block_on(task).unwrap();
    // On a crowded machine there may be other entries.
    for entry in report.entries.iter().filter(|entry| !entry.stacks.is_empty()) {
        println!("{entry}");
        entry.stacks.iter().for_each(|stack| print!("{stack:#}"));
    }
}

fn with_stack(handle: &Handle) -> BlockedReport {
    let begin = Instant::now();
    loop {
        let report = handle.blocked_report();
        let is_complete = report.entries.iter().any(|entry| !entry.stacks.is_empty() || entry.no_stack.is_some());
        if is_complete || begin.elapsed() > Duration::from_secs(20) {
            return report;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

async fn outer(holds: fn(&AtomicBool), is_over: Arc<AtomicBool>) {
    gmp_exec::task::yield_now().await;
    holds(&is_over);
    black_box(&is_over);
}

fn computes(is_over: &AtomicBool) {
    let mut sum = 0_u64;
    while !is_over.load(SeqCst) {
        sum = sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(black_box(1));
    }
}

/// Most of the time is spent in the allocator.
fn calls(is_over: &AtomicBool) {
    while !is_over.load(SeqCst) {
        black_box((0..40_u64).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}

fn sleeps(is_over: &AtomicBool) {
    while !is_over.load(SeqCst) {
        thread::sleep(Duration::from_millis(200));
    }
}
