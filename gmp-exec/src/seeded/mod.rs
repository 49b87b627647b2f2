//! Seeded runs: with `GMP_SEED`, everything that a run leaves to chance comes from one seed.
//!
//! The runtimes are the ordinary ones. Their threads, and all other threads of the process, run one
//! at a time; which one goes on, which task it takes and which timer fires first are decisions, and
//! time is virtual. The README.md beside this file has the protocols.

mod decisions;
mod descriptors;
mod ending;
mod futex;
mod interposed;
mod real;
mod report;
mod settings;
mod start;
mod state;
mod threads;
mod time;
mod turn;

use std::cell::Cell;
use std::task::Waker;

pub(crate) use ending::set_dump;

use decisions::Kind;
use state::with;

/// One of so many checks of the budget makes its future yield.
const CHECKS_PER_YIELD: usize = 4;

thread_local! {
    /// The data of the waker with which this thread has polled a future of `block_on` last.
    static ROOT: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

/// A future of `block_on` is polled with that waker.
pub(crate) fn note_root(waker: &Waker) {
    ROOT.set(waker.data());
}

/// Whether the waker is that of the future of `block_on` that this thread has polled last.
pub(crate) fn is_root(waker: &Waker) -> bool {
    ROOT.get() == waker.data()
}

/// Whether this thread is one of a seeded run's.
pub(crate) fn is_on() -> bool {
    state::is_controlled()
}

/// One of `0..count`. 0 without a seed.
pub(crate) fn pick(count: usize) -> usize {
    if is_on() { with(|state| state.decisions.decide(Kind::Task, count)) } else { 0 }
}

/// Puts into any order what happens at the same moment.
pub(crate) fn shuffle<T>(items: &mut [T]) {
    if is_on() {
        (1..items.len()).for_each(|i| {
            let back = with(|state| state.decisions.decide(Kind::Timer, i + 1));
            items.swap(i, i - back);
        });
    }
}

/// Another thread may go on here.
pub(crate) fn pause() {
    if is_on() {
        turn::pause();
    }
}

/// Whether a future that checks its budget is to yield, as if the budget were used up. Other
/// threads may go on before that.
pub(crate) fn must_yield() -> bool {
    is_on() && {
        turn::pause();
        with(|state| state.decisions.happens(Kind::Yield, CHECKS_PER_YIELD))
    }
}
