//! Runtimes that are built and ended inside of other runtimes, and used after their end.

use futures::executor;
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::{block_in_place, spawn_blocking};

use super::actor::Actor;
use super::child::{Child, check};
use super::local::live_in_local_runtime;
use super::marked::Marked;
use super::program::Program;
use super::settings::{end, random_builder, random_multi};
use super::thread_state::change_this_thread;
use crate::support::Random;

pub(super) async fn in_closure(actor: &mut Actor) {
    if actor.program.nesting == 0 {
        return;
    }
    let mark = Marked::closure(actor.program.tally);
    let (program, mut random) = (actor.program.clone(), Random::new(actor.random.next()));
    let closure = spawn_blocking(move || {
        let _mark = mark;
        if program.means.may_change_threads && random.below(2) == 0 {
            change_this_thread(&mut random);
        }
        on_this_thread(&program, &mut random);
    });
    check(closure.await, &actor.program);
}

pub(super) fn in_section(actor: &mut Actor) {
    if actor.program.means.has_block_in_place && actor.program.nesting > 0 {
        block_in_place(|| on_this_thread(&actor.program, &mut actor.random));
    }
}

/// On a thread that may block.
pub(super) fn on_this_thread(outer: &Program, random: &mut Random) {
    if random.below(3) == 0 {
        return live_in_local_runtime(outer, random);
    }
    let (mut builder, means) = random_builder(random);
    let (runtime, program) = (builder.build().unwrap(), outer.nested(means));
    let handle = runtime.handle().clone();
    let spawn = |_| Child::spawn_on(&handle, &program, random);
    let mut children: Vec<_> = (0..3).map(spawn).collect();
    for child in children.split_off(random.below(4) as usize) {
        runtime.block_on(child.join());
    }
    program.begin_end();
    end(runtime, random);
    children.into_iter().for_each(|child| executor::block_on(child.join()));
    spawn_late(&handle, &program, random);
}

/// A task that waits for tasks of the inner runtime, and ends that runtime or lets a closure do it.
pub(super) async fn in_task(actor: &mut Actor) {
    if actor.program.nesting == 0 {
        return;
    }
    let (mut builder, means) = random_multi(&mut actor.random);
    let (runtime, program) = (builder.build().unwrap(), actor.program.nested(means));
    let handle = runtime.handle().clone();
    let mut inner = Inner { runtime: Some(runtime), program: program.clone() };
    let [first, second] = [(); 2].map(|()| Child::spawn_on(&handle, &program, &mut actor.random));
    first.join().await;
    match actor.random.below(2) {
        0 => drop(inner),
        _ => {
            let mark = Marked::closure(program.tally);
            let mut random = Random::new(actor.random.next());
            drop(spawn_blocking(move || {
                let _mark = mark;
                inner.end(&mut random);
            }));
        }
    }
    second.join().await;
    if program.is_ending() {
        Child::spawn_on(&handle, &program, &mut actor.random).join().await;
    }
}

/// If the task that would end the runtime is cancelled, the runtime ends in the background.
struct Inner {
    runtime: Option<Runtime>,
    program: Program,
}

impl Inner {
    fn end(&mut self, random: &mut Random) {
        self.program.begin_end();
        self.runtime.take().into_iter().for_each(|runtime| end(runtime, random));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.program.begin_end();
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// After the end of the runtime its handle only cancels.
pub(super) fn spawn_late(handle: &Handle, program: &Program, random: &mut Random) {
    let late = Child::spawn_on(handle, program, random);
    program.tally.expect(late.handle.is_finished(), || "a task was not cancelled at once".to_owned());
    executor::block_on(late.join());
    let mark = Marked::closure(program.tally);
    let closure = handle.spawn_blocking(move || drop(mark));
    program.tally.expect(closure.is_finished(), || "a closure was not cancelled at once".to_owned());
}
