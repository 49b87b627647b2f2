//! Places inside polls: a thread asks for memory. Between two steps of a program that belong together
//! there often is one.

use std::thread::panicking;

use super::explorer::Id;
use super::state::{State, is_controlled, own, with};
use super::threads::Wait;
use super::turn;

/// The edges of the last decision that are left.
#[derive(Debug, Default)]
pub(super) struct Edges {
    left: usize,
    /// A thread is interrupted when so many have been passed since.
    until_interrupted: usize,
}

/// Only threads that poll tasks are interrupted: other threads may run foreign code that holds a lock
/// of the C library, for which the next one would wait with its turn. The same is true of a thread
/// that panics and reads its stack.
pub(super) fn pass() {
    if is_controlled() && !panicking() && with(is_interrupted) {
        turn::wait(Wait::Nothing);
    }
}

fn is_interrupted(state: &mut State) -> bool {
    let own = own();
    if !state.threads[own].polls || state.live.len() < 2 {
        return false;
    }
    if state.edges.left == 0 {
        let (left, until_interrupted) = state.decisions.edge();
        state.edges = Edges { left, until_interrupted };
    }
    let is_interrupted = state.edges.until_interrupted == 1;
    if is_interrupted {
        state.decisions.lower(Id::Thread(own));
    }
    state.edges.left = state.edges.left.saturating_sub(1);
    state.edges.until_interrupted = state.edges.until_interrupted.saturating_sub(1);
    is_interrupted
}
