//! The turn: exactly one thread of the run has it (README.md, "The turn").

use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::*;

use super::decisions::Kind;
use super::descriptors;
use super::ending::{self, End};
use super::explorer::Id;
use super::real;
use super::state::{State, own, with};
use super::threads::{Go, Wait};
use super::time_up;

/// One of so many pauses lets other threads go first.
const PAUSES_PER_SWITCH: usize = 4;
/// Threads that wait for descriptors are looked at after so many pauses of one thread.
const PAUSES_PER_LOOK: u32 = 16;
/// After so many pauses others go first in any case: a loop may wait for what they do.
const MOST_KEPT: u32 = 1_000;
/// What a pause costs in virtual time, so that a task that only yields ends when its time is up.
const COST_OF_PAUSE: u64 = 1_000;
/// One of so many timers is late, by at most so many microseconds.
const TIMERS_PER_LATE: usize = 4;
const MOST_LATE: usize = 3_000;
/// While threads run, at most so much time passes at once: as many doublings of a pause.
const DELAYS: usize = 12;

/// This thread could go on. It may let others go first.
pub(super) fn pause() {
    let lets_others = with(|state| {
        state.now += COST_OF_PAUSE;
        state.pauses += 1;
        state.kept += 1;
        let moments = state.decisions.explorer.moments;
        if state.decisions.happens_seldom(Kind::Late, &mut state.moment, moments) {
            state.now += COST_OF_PAUSE << state.decisions.decide(Kind::Late, DELAYS);
            state.decisions.explorer.time_has_passed();
        }
        wake_due(state);
        if state.kept % PAUSES_PER_LOOK == 0 {
            descriptors::wake_ready(state, 0);
        }
        let own = own();
        let others: Vec<_> = able(state).filter(|&number| number != own).map(Id::Thread).collect();
        let decisions = &mut state.decisions;
        !others.is_empty()
            && (decisions.interrupts(Kind::Switch, PAUSES_PER_SWITCH, Id::Thread(own), &others)
                || state.kept >= MOST_KEPT)
    });
    if lets_others {
        wait(Wait::Nothing);
    } else if let Some(end) = with(|state| beyond_limit(state)) {
        ending::end(end);
    }
}

/// Gives the turn away, and returns when this thread has it again. Returns whether the time of the
/// wait was up.
pub(super) fn wait(wait: Wait) -> bool {
    let own = own();
    let next = with(|state| {
        state.threads[own].begin(wait);
        if state.threads[own].polls {
            state.last_polled = state.now;
        }
        choose(state).map(|next| (next, state.threads[next].go, state.threads[own].go))
    });
    match next {
        Err(end) => ending::end(end),
        Ok((next, _, _)) if next == own => {}
        Ok((_, next, own)) => {
            pass(next);
            receive(own);
        }
    }
    with(|state| {
        time_up::note_holder(state.threads[own].tid);
        state.threads[own].is_late
    })
}

/// The kernel's number of the thread that has left, until the next thread has seen it end; 0: none.
static LEAVING: AtomicI32 = AtomicI32::new(0);

/// The same for a thread that ends.
pub(super) fn leave() {
    let own = own();
    LEAVING.store(with(|state| state.threads[own].tid), Relaxed);
    let next = with(|state| {
        state.threads[own].begin(Wait::Ended);
        state.live.retain(|&number| number != own);
        state.decisions.event("end", own as u64);
        choose(state).map(|next| state.threads[next].go)
    });
    super::state::leave();
    match next {
        Err(end) => ending::end(end),
        Ok(next) => pass(next),
    }
}

/// Step 3 of the protocol.
fn pass(next: Go) {
    next.store(1, Release);
    real::futex_wake(next);
}

/// Step 4.
pub(super) fn receive(own: Go) {
    while own.swap(0, Acquire) == 0 {
        real::futex_wait(own, 0);
    }
    // A thread that has left still gives memory back to the C library. Whether it has done so decides which
    // addresses this thread gets, and tables go by addresses.
    real::wait_for_exit(LEAVING.swap(0, Relaxed));
}

/// Step 2: the thread that goes on, after the clock has moved if no thread can.
fn choose(state: &mut State) -> Result<usize, End> {
    time_up::forget_holder();
    loop {
        if let Some(end) = beyond_limit(state) {
            return Err(end);
        }
        wake_due(state);
        descriptors::wake_ready(state, 0);
        let able: Vec<_> = able(state).collect();
        if !able.is_empty() {
            let ids: Vec<_> = able.iter().map(|&number| Id::Thread(number)).collect();
            let next = able[state.decisions.one_of(Kind::Thread, &ids)];
            state.decisions.event("thread", next as u64);
            state.live.retain(|&number| number != next);
            state.live.push(next);
            state.kept = 0;
            return Ok(next);
        }
        match earliest(state) {
            Some(deadline) => advance(state, deadline),
            None if descriptors::wait_outside(state) => {}
            None => return Err(End::Deadlock),
        }
    }
}

fn able(state: &State) -> impl Iterator<Item = usize> {
    state.live.iter().copied().filter(|&number| state.threads[number].is_able())
}

fn beyond_limit(state: &State) -> Option<End> {
    let settings = &state.settings;
    let steps = state.decisions.count.max(state.pauses);
    (steps > settings.most_decisions || state.now > settings.most_time).then_some(End::Limit)
}

fn wake_due(state: &mut State) {
    state.kernel().deliver();
    for &number in &state.live {
        let thread = &mut state.threads[number];
        if thread.deadline().is_some_and(|deadline| deadline <= state.now) {
            thread.end_wait(true);
        }
    }
}

fn earliest(state: &State) -> Option<u64> {
    let deadlines = state.live.iter().filter_map(|&number| state.threads[number].deadline());
    deadlines.chain(state.network.next_arrival()).min()
}

/// Nothing can run, so time goes on to the next deadline. As on a busy computer, it may be later
/// than that, so that several deadlines have passed at once.
fn advance(state: &mut State, deadline: u64) {
    if descriptors::wait_briefly(state) {
        return;
    }
    let decisions = &mut state.decisions;
    let is_late = decisions.happens(Kind::Late, TIMERS_PER_LATE);
    let late = if is_late { 1 + decisions.decide(Kind::Late, MOST_LATE) as u64 } else { 0 };
    state.now = deadline.saturating_add(late * 1_000);
    decisions.event("time", state.now);
}
