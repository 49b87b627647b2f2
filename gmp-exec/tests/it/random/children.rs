//! Tasks that are joined, aborted and dropped, one by one and in sets.

use futures::future::{Either, select as first_of};
use gmp_exec::task::{JoinError, JoinSet};
use gmp_exec::time::timeout;

use super::actor::{Actor, tame_actor};
use super::cell::cell;
use super::child::check;
use super::keeper::Request;
use super::marked::Marked;
use super::program::Program;
use super::steps::pause;

pub(super) async fn abort_one(actor: &mut Actor) {
    let mut child = actor.spawn_child();
    if actor.random.below(2) == 0 {
        pause(actor, 400).await;
    }
    let abort = child.handle.abort_handle();
    match actor.random.below(3) {
        0 => {
            child.expect_abort();
            abort.abort();
        }
        1 => {
            child.expect_abort();
            let other = abort.clone();
            std::thread::spawn(move || other.abort());
        }
        _ => child.abort(),
    }
    child.join().await;
    actor.program.tally.expect(abort.is_finished(), || "a joined task is not finished".to_owned());
}

pub(super) async fn join_several(actor: &mut Actor) {
    let children = [(); 3].map(|()| actor.spawn_child());
    for child in children {
        child.join().await;
    }
}

/// Tame ones: the set drops outputs and errors in the middle of this task.
pub(super) async fn set(actor: &mut Actor) {
    let program = actor.program.child().of_runtime();
    let mut set = JoinSet::new();
    let mut members = Vec::new();
    for _ in 0..1 + actor.random.below(4) {
        let (life, expected) = tame_actor(&program, &mut actor.random);
        set.spawn(life);
        members.push(expected.of);
    }
    for _ in 0..actor.random.below(members.len() as u64 + 1) {
        let result = set.join_next().await.expect("there are more");
        take_member(&mut members, check(result, &program), &program);
    }
    match actor.random.below(4) {
        0 => return drop(set),
        1 => set.shutdown().await,
        2 => set.abort_all(),
        _ => return join_rest(set, members, &program).await,
    }
    while let Some(result) = set.join_next().await {
        take_aborted(&mut members, result, &program);
    }
    program.tally.expect(set.is_empty(), || "an empty set has members".to_owned());
}

async fn join_rest(mut set: JoinSet<Marked>, mut members: Vec<usize>, program: &Program) {
    while let Some(result) = set.join_next().await {
        take_member(&mut members, check(result, program), program);
    }
    program.tally.expect(members.is_empty() || program.is_ending(), || format!("never joined: {members:?}"));
}

fn take_aborted(members: &mut Vec<usize>, result: Result<Marked, JoinError>, program: &Program) {
    match result {
        Err(error) if error.is_cancelled() => {}
        result => take_member(members, check(result, program), program),
    }
}

/// Each member is joined once.
fn take_member(members: &mut Vec<usize>, output: Option<Marked>, program: &Program) {
    let Some(of) = output.map(Marked::receive) else { return };
    let place = members.iter().position(|member| *member == of);
    program.tally.expect(place.is_some(), || format!("{of} is not or no longer a member"));
    place.map(|place| members.swap_remove(place));
}

/// An actor inside of this task, perhaps dropped half-way.
pub(super) async fn drop_in_place(actor: &mut Actor) {
    let child = actor.child_in_place();
    if !actor.program.means.has_timers {
        child.await.receive();
    } else if let Ok(output) = timeout(actor.micros(1_500), child).await {
        output.receive();
    }
}

/// The one that is not first is dropped.
pub(super) async fn select(actor: &mut Actor) {
    let (setter, waiting) = cell();
    actor.program.ask(Request::Set(setter));
    let mut child = actor.spawn_child();
    let result = match first_of(&mut child.handle, waiting).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    };
    if let Some(result) = result {
        child.judge(result);
    }
}
