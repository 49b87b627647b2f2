//! The handles of local tasks may go where the tasks may not.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use futures::FutureExt;
use gmp_exec::task::{JoinSet, LocalSet, yield_now};

use super::{end_here, runtimes};
use crate::futures::soon;

#[test]
fn local_tasks_can_be_aborted_from_another_thread() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let ended = Rc::new(Cell::new(0));
        let by_abort_handle = set.spawn_local(end_here(&ended));
        let by_handle = set.spawn_local(end_here(&ended));
        set.block_on(&runtime, yield_now());

        let abort = by_abort_handle.abort_handle();
        let by_handle = thread::spawn(move || {
            abort.abort();
            by_handle.abort();
            by_handle
        });
        let by_handle = by_handle.join().unwrap();
        assert_eq!(ended.get(), 0, "a future was dropped on another thread");
        for task in [by_abort_handle, by_handle] {
            assert!(set.block_on(&runtime, soon(task)).unwrap_err().is_cancelled());
        }
        assert_eq!(ended.get(), 2);
    }
}

#[test]
fn handles_may_outlive_the_set_on_another_thread() {
    let set = LocalSet::new();
    let rc = Rc::new(3);
    let task = set.spawn_local(async move { *rc });
    let abort = task.abort_handle();
    set.block_on(&runtimes()[0], yield_now());
    drop(set);
    let output = thread::spawn(move || {
        abort.abort();
        assert!(abort.is_finished());
        task.now_or_never().unwrap()
    });
    assert_eq!(output.join().unwrap().unwrap(), 3);
}

#[gmp_exec::test]
async fn local_tasks_join_in_a_join_set() {
    let set = LocalSet::new();
    let mut joined = JoinSet::new();
    for number in 0..300 {
        let rc = Rc::new(number);
        joined.spawn_local_on(
            async move {
                yield_now().await;
                *rc
            },
            &set,
        );
    }
    let outputs = soon(set.run_until(joined.join_all())).await;
    assert_eq!(outputs.into_iter().sum::<u32>(), (0..300).sum());
}
