//! Spends the budget of a task's poll, for operations that take as long as several.

use std::task::{Context, Poll};

use gmp_exec::task::coop;

/// Takes `units` units, or all that are left.
pub(crate) fn spend(cx: &mut Context<'_>, units: usize) {
    for _ in 0..units {
        if !coop::has_budget_remaining() {
            break;
        }
        if let Poll::Ready(unit) = coop::poll_proceed(cx) {
            unit.made_progress();
        }
    }
}
