//! Counters that any thread may write. A machine has others of its own for most events.

use crate::metrics::Counter;
use crate::sched::state::machine::TaskCounters;
use crate::sched::state::striped::Striped;
use crate::sync::atomic::AtomicUsize;

/// Each thread counts in the stripe that its number chooses. Threads with different numbers mostly
/// write to different lines.
pub(crate) struct Outside {
    stripes: Striped<OutsideCounters>,
    /// How many threads have got their number here. A thread keeps its number on other runtimes, and
    /// numbers are not used again.
    pub(crate) numbered: AtomicUsize,
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

    /// The counters of the threads with this number.
    #[inline]
    pub(crate) fn of(&self, number: usize) -> &OutsideCounters {
        self.stripes.of(number)
    }

    pub(crate) fn sum(&self, counter: impl Fn(&OutsideCounters) -> &Counter) -> u64 {
        self.stripes.iter().map(|counters| counter(counters).get()).sum()
    }
}
