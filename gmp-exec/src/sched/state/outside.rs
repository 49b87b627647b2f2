//! What threads without a processor count.

use crate::metrics::Counter;
use crate::sched::state::machine::counters::TaskCounters;
use crate::sched::state::striped::Striped;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::Relaxed;

/// Each thread counts in the stripe that its number chooses. Up to as many threads as there are
/// processors write to lines of their own.
#[derive(Debug)]
pub(crate) struct Outside {
    stripes: Striped<OutsideCounters>,
    /// How many threads have been given a number.
    numbered: AtomicUsize,
}

#[derive(Debug, Default)]
pub(crate) struct OutsideCounters {
    pub(crate) tasks: TaskCounters,
    pub(crate) remote_schedules: Counter,
    /// Polls whose budget was used up.
    pub(crate) forced_yields: Counter,
    /// Blocking closures, which the tasks include.
    pub(crate) closures: Counter,
}

impl Outside {
    pub(crate) fn new(processors: usize) -> Outside {
        Outside { stripes: Striped::new(processors, OutsideCounters::default), numbered: AtomicUsize::new(0) }
    }

    /// A number for a thread that has none.
    pub(crate) fn next_number(&self) -> usize {
        self.numbered.fetch_add(1, Relaxed)
    }

    /// The counters of the threads with this number.
    #[inline]
    pub(crate) fn of(&self, number: usize) -> &OutsideCounters {
        self.stripes.of(number)
    }

    pub(crate) fn sum(&self, counter: impl Fn(&OutsideCounters) -> &Counter) -> u64 {
        self.stripes.iter().map(|counters| counter(counters).get()).sum()
    }

    /// Tasks that were spawned and that have ended.
    pub(crate) fn tasks(&self) -> (u64, u64) {
        let finished = self.sum(|counters| &counters.tasks.finished);
        (self.sum(|counters| &counters.tasks.spawned), finished)
    }
}
