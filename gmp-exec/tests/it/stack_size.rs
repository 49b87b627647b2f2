//! How much of the stack polls and closures can use. musl gives 128 KiB to a thread whose creator
//! doesn't ask for more.

use std::hint::black_box;

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::{block_in_place, spawn_blocking};

use crate::support::{current, in_place, multi};

const PAGE: usize = 4096;

/// Uses this much of the stack, and somewhat more. Returns the number of pages.
#[inline(never)]
fn use_stack(bytes: usize) -> usize {
    let mut page = [1_u8; PAGE];
    black_box(&mut page);
    let deeper = if bytes > PAGE { use_stack(bytes - PAGE) } else { 0 };
    deeper + usize::from(page[bytes % PAGE])
}

/// A task, a task on the thread that comes for a blocked one, and a closure. A thread whose stack
/// overflows ends the process.
fn assert_stacks_have(bytes: usize, runtime: &Runtime) {
    let depths = runtime.block_on(async {
        let task = gmp_exec::spawn(async move { use_stack(bytes) });
        let closure = spawn_blocking(move || use_stack(bytes));
        [task.await.unwrap(), closure.await.unwrap()]
    });
    assert_eq!(depths, [bytes / PAGE; 2]);
}

fn assert_spares_have(bytes: usize, runtime: &Runtime) {
    let blocks = runtime.spawn(async move {
        let (sender, receiver) = std::sync::mpsc::channel();
        gmp_exec::spawn(async move { sender.send(use_stack(bytes)) });
        block_in_place(|| receiver.recv().unwrap())
    });
    assert_eq!(runtime.block_on(blocks).unwrap(), bytes / PAGE);
}

#[test]
fn a_megabyte_without_a_setting() {
    const BYTES: usize = 1 << 20;
    for mut builder in [multi(1), multi(2), in_place(2)] {
        let runtime = builder.build().unwrap();
        assert_stacks_have(BYTES, &runtime);
        assert_spares_have(BYTES, &runtime);
    }
    // The test's own thread runs the tasks.
    assert_stacks_have(BYTES, &current().build().unwrap());
}

#[test]
fn what_was_set() {
    const BYTES: usize = 6 << 20;
    let build = |mut builder: Builder| builder.thread_stack_size(BYTES + BYTES / 2).build().unwrap();
    for runtime in [multi(1), multi(2), in_place(2)].map(build) {
        assert_stacks_have(BYTES, &runtime);
        assert_spares_have(BYTES, &runtime);
    }
    let depth = build(current()).block_on(async { spawn_blocking(|| use_stack(BYTES)).await.unwrap() });
    assert_eq!(depth, BYTES / PAGE);
}
