//! Tasks that wait for a cell, which another task, a closure or a foreign thread sets.

use gmp_exec::task::spawn_blocking;

use super::actor::Actor;
use super::cell::cell;
use super::keeper::Request;
use super::marked::Marked;

pub(super) async fn set_by_foreign_thread(actor: &mut Actor) {
    let (setter, waiting) = cell();
    actor.program.ask(Request::Set(setter));
    waiting.await;
}

/// The task may be detached or aborted; its end sets the cell in any case.
pub(super) async fn set_by_task(actor: &mut Actor) {
    let (setter, waiting) = cell();
    let mut child = actor.spawn_with_errand(Some(setter));
    match actor.random.below(4) {
        0 => drop(child),
        1 => {
            child.abort();
            waiting.await;
            return child.join().await;
        }
        _ => {
            waiting.await;
            return child.join().await;
        }
    }
    waiting.await;
}

pub(super) async fn set_by_closure(actor: &mut Actor) {
    let (setter, waiting) = cell();
    let mark = Marked::closure(actor.program.tally);
    drop(spawn_blocking(move || drop((setter, mark))));
    waiting.await;
}
