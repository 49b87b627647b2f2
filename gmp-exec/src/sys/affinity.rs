//! The CPUs that the kernel lets this thread run on.

use std::num::NonZero;
use std::thread;

/// The number of CPUs in the affinity mask of the calling thread, at least 1. New threads inherit
/// the mask.
///
/// A kernel with more CPUs than the mask has bits refuses to fill the mask, and some systems have
/// no mask. In both cases the standard library tells how many CPUs are online.
pub(crate) fn cpus() -> usize {
    from_mask().or_else(|| thread::available_parallelism().ok().map(NonZero::get)).unwrap_or(1)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn from_mask() -> Option<usize> {
    let mask = rustix::thread::sched_getaffinity(None).ok()?;
    usize::try_from(mask.count()).ok().filter(|&cpus| cpus > 0)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn from_mask() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    #[test]
    fn a_narrower_mask_gives_fewer_cpus() {
        let narrowed = thread::spawn(|| {
            let allowed = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap();
            let mut only_first = CpuSet::new();
            only_first.set(first);
            sched_setaffinity(None, &only_first).unwrap();
            cpus()
        });
        assert_eq!(narrowed.join().unwrap(), 1);
    }
}
