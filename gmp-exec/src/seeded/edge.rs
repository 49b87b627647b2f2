//! Places inside polls where a thread may be interrupted: where it asks for memory and, in programs that
//! `cargo gmp test --preempt` has built, where it begins a basic block. Between two steps of a program that
//! belong together there is often an allocation, and nearly always the beginning of a block.

use std::thread::panicking;

use super::decisions::Kind;
use super::explorer::Id;
use super::state::{State, is_controlled, own, with};
use super::threads::Wait;
use super::turn;

/// The edge is `Edge`, of an allocation, or `Block`.
///
/// Only threads that poll tasks are interrupted: other threads may run foreign code that holds a lock
/// of the C library, for which the next one would wait with its turn. The same is true of a thread
/// that panics and reads its stack.
pub(super) fn pass(edge: Kind) {
    if is_controlled() && !panicking() && with(|state| is_interrupted(state, edge)) {
        turn::wait(Wait::Nothing);
    }
}

fn is_interrupted(state: &mut State, edge: Kind) -> bool {
    let own = own();
    if !state.threads[own].polls || state.live.len() < 2 {
        return false;
    }
    let explorer = &state.decisions.explorer;
    let (next, edges) = match edge {
        Kind::Block => (&mut state.block, explorer.blocks),
        _ => (&mut state.allocation, explorer.allocations),
    };
    let is_interrupted = state.decisions.happens_seldom(edge, next, edges);
    if is_interrupted {
        state.decisions.lower(Id::Thread(own));
    }
    is_interrupted
}
