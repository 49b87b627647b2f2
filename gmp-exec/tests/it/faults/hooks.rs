//! Panics in the functions that users set for threads.

use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, spawn_blocking};
use gmp_exec::time::sleep;

use super::every_kind;
use crate::support::{Flag, run};

/// A hook may run when its thread holds a processor, is the sleeper in the netpoll, or is about to
/// become one of these.
#[test]
fn hooks_that_panic_end_nothing() {
    for mut builder in every_kind() {
        builder.on_thread_start(|| panic!("start")).on_thread_stop(|| panic!("stop"));
        builder.on_thread_park(|| panic!("park")).on_thread_unpark(|| panic!("unpark"));
        let runtime = builder.thread_name_fn(|| panic!("name")).build().unwrap();
        for _ in 0..20 {
            run(&runtime, async {
                let flag = Flag::new();
                let other = flag.clone();
                spawn(spawn_blocking(|| ())).await.unwrap().unwrap();
                sleep(Duration::from_millis(1)).await;
                spawn(async move { other.set() });
                if gmp_exec::runtime::Handle::current().runtime_flavor()
                    == gmp_exec::runtime::RuntimeFlavor::MultiThread
                {
                    block_in_place(|| flag.wait());
                }
            });
        }
    }
}

/// As on tokio, where programs start a task for each thread.
#[test]
fn hooks_for_the_start_and_the_end_of_a_thread_may_spawn() {
    for mut builder in every_kind() {
        let (started, stopped) = (Flag::new(), Flag::new());
        let (start, stop) = (started.clone(), stopped.clone());
        builder.thread_keep_alive(Duration::ZERO);
        builder.on_thread_start(move || {
            let start = start.clone();
            spawn(async move { start.set() });
        });
        builder.on_thread_stop(move || {
            gmp_exec::runtime::Handle::current();
            stop.set();
        });
        let runtime = builder.build().unwrap();
        run(&runtime, async move {
            spawn_blocking(|| ()).await.unwrap();
            while !started.is_set() {
                sleep(Duration::from_millis(1)).await;
            }
        });
        drop(runtime);
        stopped.wait();
    }
}
