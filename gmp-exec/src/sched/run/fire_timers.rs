//! Firing due timers: those of all processors, or a machine's own.

use std::iter;

use crate::observe::{self, Event};
use crate::sched::local::{Held, Local};
use crate::sched::state::processor::Processor;
use crate::time::timers::wake_all;

/// Fires the due timers of all processors: no machine looks at the timers of an idle processor, and
/// those of a stuck one must not wait.
pub(in crate::sched) fn fire_timers(local: &Local) {
    fire(local, local.scheduler.processors.iter());
}

/// Fires the due timers of this processor, which no other machine looks at. Machines that set timers
/// write the words that are read here, so a look at those of all processors would ask as many other
/// cores (docs/many-cores.md). The sleeper, or a machine that searches, looks at the timers of an
/// idle processor; if there is no sleeper, this machine looks at all. The timers of a stuck processor
/// wait until sysmon asks for a look at all.
pub(in crate::sched) fn fire_unserved_timers(local: &Local, held: &Held<'_>) {
    if local.scheduler.idle.counts().idle() > 0 && !local.scheduler.idle.counts().has_sleeper() {
        fire_timers(local);
    } else {
        fire_timers_of(local, held.index);
    }
}

/// Fires the due timers of processor `index`.
pub(in crate::sched) fn fire_timers_of(local: &Local, index: usize) {
    fire(local, iter::once(&local.scheduler.processors[index]));
}

/// Reads the clock only if there is a timer.
#[inline]
fn fire<'a>(local: &Local, processors: impl Iterator<Item = &'a Processor> + Clone) {
    let earliest = processors.clone().map(|processor| processor.timers.earliest()).min();
    let Some(earliest) = earliest.filter(|&earliest| earliest != u64::MAX) else { return };
    let now = local.scheduler.clock.now_ns();
    if earliest > now {
        return;
    }
    let mut fired = Vec::new();
    for processor in processors.filter(|processor| processor.timers.earliest() <= now) {
        processor.timers.expire(now, &mut fired);
    }
    observe::on(local, Event::Timers(fired.len()));
    wake_all(fired);
}
