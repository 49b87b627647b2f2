//! Places inside polls: a thread asks for memory. Between two steps of a program that belong together
//! there often is one.

use std::thread::panicking;

use super::decisions::Kind;
use super::explorer::Id;
use super::state::{State, is_controlled, own, with};
use super::threads::Wait;
use super::turn;

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
    let edges = state.decisions.explorer.edges;
    let is_interrupted = state.decisions.happens_seldom(Kind::Edge, &mut state.edge, edges);
    if is_interrupted {
        state.decisions.lower(Id::Thread(own));
    }
    is_interrupted
}
