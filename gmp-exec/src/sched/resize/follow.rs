//! Following the number of CPUs that the process may use, while the runtime runs.
//!
//! The affinity mask and the quota of a container can change at any time. sysmon asks for them once
//! a second at most, when it is awake anyway, so an idle runtime does not wake up for it. Asking
//! reads a few small files (about 0.1 ms). Once the program sets a number, or installs a system call
//! filter, sysmon no longer asks.

use std::time::{Duration, Instant};

use crate::sched::config::CountCpus;
use crate::sched::resize::follow_cpus;
use crate::sched::scheduler::Scheduler;
use crate::sync::Arc;
use crate::sys::seccomp;

const INTERVAL: Duration = Duration::from_secs(1);

/// Owned by sysmon.
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

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;
    use crate::runtime::Builder;
    use crate::sched::config::Config;
    use crate::sched::resize::set_max_procs;

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
