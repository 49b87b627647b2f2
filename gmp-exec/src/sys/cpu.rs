//! Which CPU the calling thread runs on.
#![allow(unsafe_code, reason = "calls `sched_getcpu`: rustix has it, but crashes under valgrind")]

/// The CPU's number; `None`: the system does not say, or a model runs, which must not depend on it.
/// The kernel may move the thread at any moment, so the answer is a hint.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(loom, shuttle))))]
pub(crate) fn current_cpu() -> Option<usize> {
    // SAFETY: the function has no preconditions, and touches none of the caller's memory.
    let cpu = unsafe { libc::sched_getcpu() };
    usize::try_from(cpu).ok()
}

#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(any(loom, shuttle)))))]
pub(crate) fn current_cpu() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use std::thread;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::current_cpu;

    #[test]
    fn a_thread_that_is_bound_to_a_cpu_runs_on_it() {
        let permitted = sched_getaffinity(None).unwrap();
        for cpu in (0..CpuSet::MAX_CPU).filter(|&cpu| permitted.is_set(cpu)) {
            let bound = move || {
                let mut only = CpuSet::new();
                only.set(cpu);
                sched_setaffinity(None, &only).unwrap();
                current_cpu()
            };
            assert_eq!(thread::spawn(bound).join().unwrap(), Some(cpu));
        }
    }
}
