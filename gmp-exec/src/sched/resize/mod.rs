//! Changing the number of processors while the runtime runs (Go: `procresize`, without stopping the
//! world).
//!
//! More: tokens go from the retired list, or from new processors, to the idle list, and a machine
//! is woken if work waits. Fewer: idle processors retire at once. For the others, each machine
//! looks now and then whether there is a surplus (`find_runnable`). If there is, the machine moves
//! its queue to the global queue and returns its processor, which retires. It does not matter which
//! machines do. A stuck machine keeps its processor until that is taken, and then the heir does the
//! same (sched/README.md §11).
//!
//! The affinity mask and the quota of a container can change at any time. sysmon asks for them once
//! a second at most, when it is awake anyway, so an idle runtime does not wake up for it. Asking
//! reads a few small files (about 0.1 ms). Once the program sets a number, or installs a system call
//! filter, sysmon no longer asks.

use std::time::{Duration, Instant};

use crate::sched::config::CountCpus;
use crate::sched::local::{Held, Local};
use crate::sched::scheduler::Scheduler;
use crate::sched::submit::wake::{ask_once_more, submit_global, submit_permitted};
use crate::sync::{Arc, MutexGuard};
use crate::sys::seccomp;
use crate::task::Runnable;

const INTERVAL: Duration = Duration::from_secs(1);

/// Follows the number of CPUs that the process may use. Owned by sysmon.
pub(in crate::sched) struct Follower {
    /// `None`: nothing is followed.
    source: Option<CountCpus>,
    asked: Instant,
}

impl Follower {
    pub(in crate::sched) fn new(source: Option<CountCpus>) -> Follower {
        Follower { source, asked: Instant::now() }
    }

    /// Asks if the last time is long enough ago, and changes the number of processors accordingly.
    pub(in crate::sched) fn follow_if_due(&mut self, scheduler: &Arc<Scheduler>) {
        let Some(source) = self.source else { return };
        if self.asked.elapsed() < INTERVAL {
            return;
        }
        self.asked = Instant::now();
        if seccomp::has_come() || !follow_cpus(scheduler, source()) {
            self.source = None;
        }
    }
}

/// Sets how many processors may be in use, as the program wants it. Returns the previous
/// number.
pub(crate) fn set_max_procs(scheduler: &Arc<Scheduler>, count: usize) -> usize {
    let mut is_set = scheduler.resizing.lock();
    *is_set = true;
    change(scheduler, count, is_set)
}

/// Sets as many processors as the process has CPUs now. `false`: the program has set a number.
fn follow_cpus(scheduler: &Arc<Scheduler>, cpus: usize) -> bool {
    let is_set = scheduler.resizing.lock();
    if *is_set {
        return false;
    }
    if cpus != scheduler.idle.active() {
        change(scheduler, cpus, is_set);
    }
    true
}

/// Unlocks in the middle.
#[doc(alias = "procresize")]
fn change(scheduler: &Arc<Scheduler>, count: usize, lock: MutexGuard<'_, bool>) -> usize {
    let (before, permitted) = resize(scheduler, count);
    drop(lock);
    // What follows may start a thread, whose name comes from a function of the user's.
    permitted.into_iter().for_each(|task| submit_permitted(scheduler, task));
    if count > before {
        // Processors have become idle. The machine that is woken wakes the next one.
        ask_once_more(scheduler);
    } else {
        // Sooner than the next regular look. A request that is overwritten is only late.
        scheduler.processors.iter().for_each(|processor| processor.ask_for_look());
    }
    before
}

/// The change itself, under the lock. Returns the number before, and hogs that may run now.
fn resize(scheduler: &Scheduler, count: usize) -> (usize, Vec<Runnable>) {
    let before = scheduler.idle.resize(count, |more| scheduler.processors.add(more));
    if before == scheduler.idle.active() {
        return (before, Vec::new());
    }
    scheduler.resizes.add(1);
    // As many hogs may compute as the builder would allow for this number of processors.
    let permitted = if scheduler.config.fits_hogs { scheduler.hogs.set_limit(2 * count) } else { Vec::new() };
    (before, permitted)
}

/// A machine has seen that there is a surplus: its tasks go to the global queue. Its own queue is
/// empty afterwards, and so it comes to `find_runnable::look_further`, which returns the processor.
#[cold]
pub(in crate::sched) fn give_away_queue(local: &Local, held: &Held<'_>) {
    let tasks: Vec<_> = std::iter::from_fn(|| held.processor.pop(&held.proof)).collect();
    if !tasks.is_empty() {
        submit_global(&local.scheduler, tasks);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;
    use crate::runtime::Builder;
    use crate::sched::config::Config;

    /// What the system says.
    static CPUS: AtomicUsize = AtomicUsize::new(0);

    fn cpus() -> usize {
        CPUS.load(SeqCst)
    }

    /// Asks as if a second had passed.
    fn a_second_later(follower: &mut Follower, scheduler: &Arc<Scheduler>, cpus: usize) -> usize {
        CPUS.store(cpus, SeqCst);
        follower.asked = Instant::now().checked_sub(INTERVAL).unwrap();
        follower.follow_if_due(scheduler);
        scheduler.idle.active()
    }

    #[test]
    fn the_number_of_cpus_is_followed_once_a_second_until_the_program_sets_one() {
        let config = Builder::new_multi_thread().worker_threads(2).config(false).unwrap();
        let scheduler = Scheduler::new(Config { follow: Some(cpus), ..config });
        let mut follower = Follower::new(scheduler.config.follow);
        CPUS.store(3, SeqCst);
        follower.follow_if_due(&scheduler);
        assert_eq!(scheduler.idle.active(), 2, "the second is not over");
        assert_eq!([4, 1, 3].map(|cpus| a_second_later(&mut follower, &scheduler, cpus)), [4, 1, 3]);
        assert_eq!(scheduler.resizes.get(), 3);
        assert_eq!(set_max_procs(&scheduler, 3), 3);
        assert_eq!(a_second_later(&mut follower, &scheduler, 5), 3);
        assert!(follower.source.is_none(), "it need not ask any more");
        assert_eq!(scheduler.resizes.get(), 3);
    }
}
