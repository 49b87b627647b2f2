//! Firing due timers: those of all processors, or a machine's own and, now and then, those of one
//! other processor.

use std::cell::Cell;

use crate::sched::local::{Held, Local};
use crate::time::timers::wake_all;
use crate::trace::Kind;

/// A busy machine looks at the timers of one other processor at most this often. Each such look may
/// ask another core for a line that the other machine has just written.
const BETWEEN_OTHERS_NS: u64 = 250_000;

/// Fires the due timers of all processors: no machine looks at the timers of an idle processor, and
/// those of a stuck one must not wait.
pub(super) fn fire_timers(local: &Local) {
    let scheduler = &local.scheduler;
    let earliest = scheduler.earliest_timer();
    if earliest == u64::MAX {
        return;
    }
    let now = scheduler.clock.now_ns();
    if earliest > now {
        return;
    }
    let mut fired = Vec::new();
    for processor in scheduler.processors.iter() {
        if processor.timers.earliest() <= now {
            processor.timers.expire(now, &mut fired);
        }
    }
    local.record(Kind::Timers, 0, fired.len());
    wake_all(fired);
}

/// Fires the due timers of this processor and, now and then, those of one other. Machines that set
/// timers write the words that are read here, so a look at all of them would ask as many other cores
/// (docs/many-cores.md). The sleeper, or a machine that searches, looks at the timers of an idle
/// processor. The timers of a stuck processor wait until a busy machine comes round to them, or
/// until sysmon asks for a look at all.
pub(super) fn fire_own_and_other_timers(local: &Local, held: &Held<'_>) {
    fire_timers_of(local, held.index);
    let scheduler = &local.scheduler;
    if let Some(other) = local.other_timers.next(held.index, scheduler.processors.len(), scheduler.clock.running_ns()) {
        fire_timers_of(local, other);
    }
}

/// A busy machine's round through the timers of the other processors.
#[derive(Debug, Default)]
pub(super) struct OtherTimers {
    /// How many looks there were.
    looks: Cell<usize>,
    /// The moment of the last one.
    looked_at: Cell<u64>,
}

impl OtherTimers {
    /// The processor whose timers are next, out of `count` without `own`. `None`: it is too early
    /// for another look.
    fn next(&self, own: usize, count: usize, now: u64) -> Option<usize> {
        if count < 2 || now.saturating_sub(self.looked_at.get()) < BETWEEN_OTHERS_NS {
            return None;
        }
        self.looked_at.set(now);
        let look = self.looks.replace(self.looks.get().wrapping_add(1));
        Some((own + 1 + look % (count - 1)) % count)
    }
}

/// Fires the due timers of processor `index`.
pub(super) fn fire_timers_of(local: &Local, index: usize) {
    let timers = &local.scheduler.processors[index].timers;
    let earliest = timers.earliest();
    if earliest == u64::MAX {
        return;
    }
    let now = local.scheduler.clock.now_ns();
    if earliest <= now {
        let mut fired = Vec::new();
        timers.expire(now, &mut fired);
        local.record(Kind::Timers, 0, fired.len());
        wake_all(fired);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_other_processor_has_its_turn_and_none_comes_too_early() {
        let round = OtherTimers::default();
        let looks = (1..=600).map(|tenth| tenth * BETWEEN_OTHERS_NS / 10);
        let others: Vec<_> = looks.filter_map(|now| round.next(2, 5, now)).collect();
        assert_eq!(others.len(), 60);
        assert_eq!(others[..5], [3, 4, 0, 1, 3]);
        assert!(!others.contains(&2));
    }

    #[test]
    fn a_processor_without_others_looks_at_none() {
        assert_eq!(OtherTimers::default().next(0, 1, u64::MAX), None);
    }
}
