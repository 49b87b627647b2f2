//! Seeded runs: with `GMP_SEED`, everything that a run leaves to chance comes from one seed.
//!
//! The runtimes are the ordinary ones. Their threads, and all other threads of the process, run one
//! at a time; which one goes on, which task it takes and which timer fires first are decisions, and
//! time is virtual. The README.md beside this file has the protocols.

mod decisions;
mod descriptors;
mod edge;
mod ending;
mod explorer;
mod futex;
mod interposed;
mod network;
mod random;
mod real;
mod report;
mod settings;
mod start;
mod state;
mod threads;
mod time;
mod time_up;
mod turn;

use std::cell::Cell;
use std::panic::Location;
use std::task::Waker;

pub(crate) use ending::set_dump;
pub(crate) use time_up::set_place;

use decisions::Kind;
use explorer::Id;
use state::{own, with};
use threads::Wait;

/// One of so many checks of the budget makes its future yield.
const CHECKS_PER_YIELD: usize = 4;

thread_local! {
    /// The data of the waker with which this thread has polled a future of `block_on` last.
    static ROOT: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

/// A future of `block_on` is polled with that waker. Other threads may go on before that.
pub(crate) fn note_root(waker: &Waker) {
    ROOT.set(waker.data());
    if is_on() {
        with(|state| state.threads[own()].polls = true);
        turn::pause();
    }
}

/// Whether the waker is that of the future of `block_on` that this thread has polled last.
pub(crate) fn is_root(waker: &Waker) -> bool {
    ROOT.get() == waker.data()
}

/// Whether this thread is one of a seeded run's.
pub(crate) fn is_on() -> bool {
    state::is_controlled()
}

/// Whether tasks that tokio polls in a certain order, as those of a current-thread runtime, keep it.
pub(crate) fn keeps_order() -> bool {
    is_on() && with(|state| state.settings.keeps_order)
}

/// Whether a task is polled before the root future that was woken, and that has this number.
pub(crate) fn root_goes_last(root: u64, has_tasks: bool) -> bool {
    with(|state| {
        // The task is not known yet: any number that is no task's.
        let ids = [Id::Task(root), Id::Task(0)];
        let goes_last = state.decisions.one_of(Kind::Task, &ids[..1 + usize::from(has_tasks)]) == 1;
        state.decisions.event(if goes_last { "root-last" } else { "root" }, root);
        if !goes_last {
            state.threads[own()].task = root;
        }
        goes_last
    })
}

/// The place of the task that is polled next, of those with these numbers.
pub(crate) fn pick_task(tasks: &[(u64, &Location<'_>)]) -> usize {
    with(|state| {
        let ids: Vec<_> = tasks.iter().map(|(number, _)| Id::Task(*number)).collect();
        let place = state.decisions.one_of(Kind::Task, &ids);
        let (number, spawned_at) = tasks[place];
        let thread = &mut state.threads[own()];
        (thread.task, thread.polls) = (number, true);
        state.decisions.task(number, spawned_at);
        place
    })
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

/// A runtime with a paused clock has nothing to do. Waits for the next packet of the simulated network,
/// and returns whether there was one under way.
pub(crate) fn wait_for_packet() -> bool {
    let arrival = if is_on() { with(|state| state.network.next_arrival()) } else { None };
    arrival.map(|deadline| turn::wait(Wait::Sleep { deadline })).is_some()
}

/// Whether a future that checks its budget is to yield, as if the budget were used up. Other
/// threads may go on before that.
pub(crate) fn must_yield() -> bool {
    is_on() && {
        turn::pause();
        with(|state| {
            let task = Id::Task(state.threads[own()].task);
            state.decisions.interrupts(Kind::Yield, CHECKS_PER_YIELD, task, &[])
        })
    }
}
