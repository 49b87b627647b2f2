//! The future of `block_on`: which processor it is on, and whether it may block.

use std::panic::catch_unwind;

use gmp_exec::runtime::{Handle, worker_index};
use gmp_exec::task::{block_in_place, spawn_blocking, yield_now};

use crate::support::{current, every_runtime, multi, panic_message, run};

#[test]
fn the_future_of_a_handles_block_on_is_a_guest() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        handle.block_on(async {
            assert_eq!(worker_index(), None);
            block_in_place(|| Handle::current().block_on(yield_now()));
        });
    }
    let runtime = current().build().unwrap();
    assert_eq!(runtime.block_on(async { worker_index() }), Some(0));
    let text = panic_message(|| runtime.block_on(async { block_in_place(|| ()) }));
    assert_eq!(text, "can call blocking only when running on the multi-threaded runtime");
    let tasks = runtime.spawn(async { (worker_index(), catch_unwind(|| block_in_place(|| ())).is_err()) });
    assert_eq!(runtime.handle().block_on(tasks).unwrap(), (Some(0), true), "its tasks are no guests");
}

#[test]
fn worker_index_is_that_of_the_processor() {
    assert_eq!(worker_index(), None);
    // sysmon would take the processor of a poll that gets no CPU for long.
    let runtime = multi(2).sysmon(false).build().unwrap();
    assert_eq!(runtime.block_on(async { worker_index() }), None);
    let index = run(&runtime, async { worker_index() }).unwrap();
    assert!(index < 2);
    assert_eq!(run(&runtime, async { spawn_blocking(worker_index).await.unwrap() }), None);
}
