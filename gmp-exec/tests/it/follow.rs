//! The number of processors follows the CPUs that the process may use.

use std::fs;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::time::sleep;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::support::{in_child, multi, wait_until};

/// As `taskset -a -p` does.
fn restrict_all_threads(mask: &CpuSet) {
    for thread in fs::read_dir("/proc/self/task").unwrap() {
        let id = thread.unwrap().file_name().into_string().unwrap().parse().unwrap();
        // The thread may have ended.
        let _ = sched_setaffinity(Pid::from_raw(id), mask);
    }
}

fn first_of(mask: &CpuSet) -> CpuSet {
    let mut first = CpuSet::new();
    first.set((0..CpuSet::MAX_CPU).find(|&cpu| mask.is_set(cpu)).unwrap());
    first
}

/// A task that keeps sysmon awake.
fn keep_busy(runtime: &Runtime) {
    drop(runtime.spawn(async {
        loop {
            sleep(Duration::from_millis(1)).await;
        }
    }));
}

/// On a computer with one core the number can't change.
#[test]
fn the_affinity_mask_is_followed_while_there_is_work() {
    in_child("follow::the_affinity_mask_is_followed_while_there_is_work", || {
        let all = sched_getaffinity(None).unwrap();
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        let (handle, before) = (runtime.handle().clone(), runtime.handle().max_procs());
        keep_busy(&runtime);
        restrict_all_threads(&first_of(&all));
        wait_until(|| handle.max_procs() == 1);
        restrict_all_threads(&all);
        wait_until(|| handle.max_procs() == before);
        assert_eq!(runtime.metrics().max_procs_changes(), if before == 1 { 0 } else { 2 });
    });
}

#[test]
fn a_number_that_is_set_ends_the_following() {
    in_child("follow::a_number_that_is_set_ends_the_following", || {
        let all = sched_getaffinity(None).unwrap();
        let follows = Builder::new_multi_thread().enable_all().build().unwrap();
        let (set, built) = (Builder::new_multi_thread().enable_all().build().unwrap(), multi(5).build().unwrap());
        set.handle().set_max_procs(5).unwrap();
        [&follows, &set, &built].into_iter().for_each(keep_busy);
        restrict_all_threads(&first_of(&all));
        let since = Instant::now();
        // All of them would have asked by now.
        wait_until(|| since.elapsed() > Duration::from_millis(2_500) && follows.handle().max_procs() == 1);
        assert_eq!([&set, &built].map(|runtime| runtime.handle().max_procs()), [5, 5]);
    });
}
