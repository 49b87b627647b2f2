//! Tasks that never leave their thread: those of a `LocalSet` and of a `LocalRuntime`.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};
use std::time::Duration;

use futures::executor;
use gmp_exec::runtime::{Handle, LocalOptions, LocalRuntime};
use gmp_exec::task::{JoinHandle, LocalSet};

use super::actor::{Life, actor};
use super::child::Child;
use super::marked::Marked;
use super::program::Program;
use super::settings::Means;
use super::tally::Tally;
use crate::support::{Random, current};

/// A future that is polled and dropped on the thread where it was made.
pub(super) struct OnThread {
    life: Life<Marked>,
    thread: ThreadId,
    tally: &'static Tally,
}

impl OnThread {
    pub(super) fn new(life: Life<Marked>, program: &Program) -> OnThread {
        OnThread { life, thread: thread::current().id(), tally: program.tally }
    }

    fn look(&self, event: &str) {
        self.tally.expect(thread::current().id() == self.thread, || format!("{event} on another thread"));
    }
}

impl Future for OnThread {
    type Output = Marked;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Marked> {
        self.look("polled");
        Pin::new(&mut self.life).poll(cx)
    }
}

impl Drop for OnThread {
    fn drop(&mut self) {
        self.look("dropped");
    }
}

/// Actors in a set that ends before or after they do. The runtime may end in the meantime.
pub(super) fn live_in_set(handle: &Handle, outer: &Program, random: &mut Random) {
    let (set, program) = (LocalSet::new(), outer.in_local_set());
    let mut children = spawn_several(&program, random, |future| set.spawn_local(future));
    let joined = children.split_off(random.below(children.len() as u64 + 1) as usize);
    handle.block_on(set.run_until(join_all(joined)));
    drop(set);
    children.iter_mut().for_each(Child::expect_abort);
    executor::block_on(join_all(children));
}

/// The same with a runtime of this thread's own.
pub(super) fn live_in_local_runtime(outer: &Program, random: &mut Random) {
    let runtime = current().build_local(LocalOptions::default()).unwrap();
    let (handle, program) = (runtime.handle().clone(), outer.nested(Means::of_local_tasks()));
    let mut children = spawn_several(&program, random, |future| runtime.spawn_local(future));
    let joined = children.split_off(random.below(children.len() as u64 + 1) as usize);
    runtime.block_on(join_all(joined));
    program.begin_end();
    end(runtime, random);
    executor::block_on(join_all(children));
    super::nested::spawn_late(&handle, &program, random);
}

fn spawn_several(program: &Program, random: &mut Random, spawn: impl Fn(OnThread) -> JoinHandle<Marked>) -> Vec<Child> {
    let spawn_one = |_| {
        let (life, expected) = actor(program, random, None);
        Child::new(spawn(OnThread::new(life, program)), expected, program)
    };
    (0..1 + spawn_count(program)).map(spawn_one).collect()
}

/// More where the tasks may have children.
fn spawn_count(program: &Program) -> u32 {
    2 + program.depth
}

async fn join_all(children: Vec<Child>) {
    for child in children {
        child.join().await;
    }
}

fn end(runtime: LocalRuntime, random: &mut Random) {
    match random.below(3) {
        0 => drop(runtime),
        1 => runtime.shutdown_background(),
        _ => runtime.shutdown_timeout(Duration::from_micros(random.below(1_000))),
    }
}
