//! Declared sections, `block_in_place` and `blocking`: other tasks run during a section, and every
//! operation is allowed inside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use gmp_exec::runtime::Handle;
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, blocking, spawn_blocking, yield_now};
use gmp_exec::time::sleep;

use super::{every_setting, hold_on_until_others_ran, use_the_runtime};
use crate::support::{FOREVER, Flag, current, multi, run};

#[test]
fn others_run_during_block_in_place_and_during_blocking() {
    for runtime in every_setting() {
        run(&runtime, async {
            for _ in 0..20 {
                block_in_place(|| hold_on_until_others_ran(Flag::wait));
                blocking(|| hold_on_until_others_ran(Flag::wait));
                block_in_place(|| hold_on_until_others_ran(Flag::busy_wait));
                blocking(|| hold_on_until_others_ran(Flag::busy_wait));
                yield_now().await;
            }
        });
    }
}

#[test]
fn a_declared_section_does_not_make_a_task_a_marked_hog() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(500)).build().unwrap();
    run(&runtime, async {
        for _ in 0..5 {
            block_in_place(|| hold_on_until_others_ran(Flag::wait));
            yield_now().await;
        }
        // If the task were marked as a hog, the scheduler would hand off the processor before this
        // poll, and would take none.
        let before = Handle::current().metrics().worker_taken_from_blocked_count(0);
        hold_on_until_others_ran(Flag::wait);
        assert_eq!(Handle::current().metrics().worker_taken_from_blocked_count(0), before + 1);
    });
}

#[test]
fn sections_nest_and_return_what_the_closure_returns() {
    for runtime in every_setting() {
        let answer = run(&runtime, async {
            block_in_place(|| {
                hold_on_until_others_ran(Flag::wait);
                let inner = block_in_place(|| {
                    hold_on_until_others_ran(Flag::wait);
                    blocking(|| 41)
                });
                hold_on_until_others_ran(Flag::wait);
                inner + 1
            })
        });
        assert_eq!(answer, 42);
    }
}

#[test]
fn a_panic_inside_a_section_leaves_it() {
    for runtime in every_setting() {
        for section in [block_in_place::<fn(), ()>, blocking::<fn(), ()>] {
            run(&runtime, async move {
                let payload = catch_unwind(AssertUnwindSafe(|| section(|| panic!("boom")))).unwrap_err();
                assert_eq!(*payload.downcast::<&str>().unwrap(), "boom");
                // The section is over: a nested `block_on` is refused again, and the task can still
                // wait.
                assert!(catch_unwind(AssertUnwindSafe(|| Handle::current().block_on(async {}))).is_err());
                sleep(Duration::from_micros(10)).await;
                let task = spawn(async move { block_in_place(|| section(|| panic!("boom"))) });
                assert!(task.await.unwrap_err().is_panic());
            });
        }
    }
}

#[test]
fn block_in_place_is_refused_on_the_current_thread_flavour() {
    let runtime = current().build().unwrap();
    let refused = || *catch_unwind(|| block_in_place(|| ())).unwrap_err().downcast::<&str>().unwrap();
    let message = "can call blocking only when running on the multi-threaded runtime";
    assert_eq!(runtime.block_on(async { refused() }), message);
    assert_eq!(runtime.block_on(async { spawn(async move { refused() }).await.unwrap() }), message);
    // The runtime's blocking closures may, because they are not on the thread that runs tasks.
    // Threads outside of the runtime may, too.
    assert_eq!(runtime.block_on(runtime.spawn_blocking(|| block_in_place(|| 42))).unwrap(), 42);
    let _entered = runtime.enter();
    assert_eq!(block_in_place(|| 42), 42);
    assert_eq!(runtime.block_on(async { blocking(|| 42) }), 42);
}

#[test]
fn a_whole_block_on_works_inside_a_section() {
    for runtime in every_setting() {
        run(&runtime, async {
            block_in_place(use_the_runtime);
            blocking(use_the_runtime);
            spawn_blocking(use_the_runtime).await.unwrap();
            block_in_place(|| {
                let inner = current().build().unwrap();
                inner.block_on(async { spawn(sleep(Duration::from_micros(10))).await.unwrap() });
            });
        });
    }
}

#[test]
fn sections_need_no_runtime() {
    assert_eq!(block_in_place(|| blocking(|| 42)), 42);
}

/// `block_in_place` hands the processor off even if no work waits, so that sysmon needn't find the thread
/// when work arrives.
#[test]
fn a_task_spawned_inside_of_block_in_place_does_not_wait_for_sysmon() {
    for processors in [1, 2] {
        let runtime = multi(processors).blocking_threshold(FOREVER).build().unwrap();
        run(&runtime, async {
            for _ in 0..10 {
                block_in_place(|| {
                    hold_on_until_others_ran(Flag::wait);
                    block_in_place(|| ());
                    blocking(|| hold_on_until_others_ran(Flag::wait));
                    hold_on_until_others_ran(Flag::wait);
                    Handle::current().block_on(sleep(Duration::from_millis(1)));
                });
                yield_now().await;
            }
        });
    }
}
