//! Runs a program.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::future::{Either, join, select};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::oneshot;

use crate::library::Library;
use crate::program::{Branch, Program, StepKind};
use crate::world::{Trace, What, World, lock};

/// Later than any step of a program: a step that waits longer never ends.
const END: Duration = Duration::from_secs(100);

/// Runs `program` on the current-thread flavour.
pub fn run<L: Library>(program: &Program) -> Trace {
    let world = World::<L>::new();
    let [event_interval, global_queue_interval] = program.intervals;
    let runtime = L::current_thread(event_interval, global_queue_interval);
    for branch in &program.before {
        drop(L::spawn_on(&L::handle_of(&runtime), Task::new(&world, false).run(branch.clone())));
    }
    for root in &program.roots {
        let task = Task { world: world.clone(), id: 0, is_local: program.is_local };
        let future = root_until_end(&task, root);
        if program.is_local {
            L::block_on(&runtime, L::in_local_set(future));
        } else {
            L::block_on(&runtime, future);
        }
    }
    let trace = world.close();
    drop(runtime);
    trace
}

async fn root_until_end<L: Library>(task: &Task<L>, root: &Branch) {
    let end = std::pin::pin!(L::sleep(END));
    if let Either::Right(_) = select(task.branch(root), end).await {
        task.log(u32::MAX, What::TimedOut);
    }
    task.log(u32::MAX, What::Done);
}

/// Runs `program` on the multi-thread flavour with one worker. That flavour can't pause the clock,
/// so the program is over when no further events occur.
pub fn run_on_one_worker<L: Library>(program: &Program) -> Trace {
    let world = World::<L>::new();
    let runtime = L::one_worker();
    let handle = L::handle_of(&runtime);
    let root = program.roots[0].clone();
    let task = Task { world: world.clone(), id: 0, is_local: false };
    let (begun, has_begun) = oneshot::channel();
    let spawned = L::spawn_on(&handle, async move {
        let _ = begun.send(());
        task.branch(&root).await;
        task.log(u32::MAX, What::Done);
    });
    L::block_on(&runtime, has_begun).expect("the root runs");
    loop {
        let events = world.events();
        // The worker takes a task from outside when it has no other work, or once in a while.
        for _ in 0..PROBES {
            L::block_on(&runtime, L::spawn_on(&handle, async {}));
        }
        if events == world.events() {
            break;
        }
    }
    let trace = world.close();
    drop((spawned, runtime));
    trace
}

/// After this many turns of tasks from outside without an event, the program is over.
const PROBES: u32 = 4;

struct Task<L: Library> {
    world: Arc<World<L>>,
    id: u32,
    is_local: bool,
}

impl<L: Library> Task<L> {
    fn new(world: &Arc<World<L>>, is_local: bool) -> Task<L> {
        Task { world: world.clone(), id: world.next_task(), is_local }
    }

    fn log(&self, step: u32, what: What) {
        self.world.log(self.id, step, what);
    }

    async fn run(self, branch: Branch) {
        let dropped = LogDrop(&self);
        self.log(0, What::Begun);
        self.branch(&branch).await;
        self.log(0, What::Done);
        std::mem::forget(dropped);
    }

    fn branch<'a>(&'a self, branch: &'a Branch) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for step in branch {
                let what = self.step(&step.kind).await;
                self.log(step.id, what);
            }
        })
    }

    async fn step(&self, step: &StepKind) -> What {
        let world = &self.world;
        match step {
            StepKind::Yield => L::yield_now().await,
            StepKind::WakeSelf => wake_self().await,
            StepKind::Consume(units) => {
                for _ in 0..*units {
                    L::consume_budget().await;
                }
            }
            StepKind::Sleep(ms) => L::sleep(Duration::from_millis(*ms)).await,
            StepKind::Advance(ms) => L::advance(Duration::from_millis(*ms)).await,
            StepKind::Spawn { handle, is_local, branch } => self.spawn(*handle, *is_local, branch),
            StepKind::SpawnMany { count, branch } => {
                for _ in 0..*count {
                    drop(L::spawn(Task::new(world, false).run(branch.clone())));
                }
            }
            StepKind::Join(handle) => {
                let handle = lock(&world.handles)[*handle].take();
                return match handle {
                    Some(handle) => What::Joined(handle.await),
                    None => What::Nothing,
                };
            }
            StepKind::Send(channel) => match L::cooperative_at_end(world.channels[*channel].sender.reserve()).await {
                Ok(permit) => permit.send(()),
                Err(_) => return What::Closed,
            },
            StepKind::Receive(channel) => {
                let mut receiver = L::cooperative_at_end(world.channels[*channel].receiver.lock()).await;
                if L::cooperative(receiver.recv()).await.is_none() {
                    return What::Closed;
                }
            }
            StepKind::Notified(notify) => world.notifies[*notify].notified().await,
            StepKind::Hold(semaphore, branch) => {
                let permit = L::cooperative_at_end(world.semaphores[*semaphore].acquire()).await;
                self.branch(branch).await;
                drop(permit);
            }
            StepKind::OneshotReceive(oneshot) => {
                let receiver = lock(&world.oneshots[*oneshot].receiver).take();
                let Some(receiver) = receiver else { return What::Nothing };
                if L::cooperative(receiver).await.is_err() {
                    return What::Closed;
                }
            }
            // A panic of a root would end the whole program.
            StepKind::Panic if self.id == 0 => return What::Nothing,
            StepKind::Panic => std::panic::resume_unwind(Box::new(())),
            StepKind::Elsewhere(branch) => self.elsewhere(branch),
            StepKind::Both(left, right) => {
                join(self.branch(left), self.branch(right)).await;
            }
            StepKind::Either(left, right) => {
                return match select(self.branch(left), self.branch(right)).await {
                    Either::Left(_) => What::Left,
                    Either::Right(_) => What::Right,
                };
            }
            StepKind::Unordered(branches) => {
                let mut all: FuturesUnordered<_> = branches.iter().map(|branch| self.branch(branch)).collect();
                while all.next().await.is_some() {}
            }
            StepKind::Abort(_)
            | StepKind::IsFinished(_)
            | StepKind::NotifyOne(_)
            | StepKind::NotifyWaiters(_)
            | StepKind::OneshotSend(_) => return self.step_at_once(step),
        }
        What::Done
    }

    /// Performs a step that does not wait.
    fn step_at_once(&self, step: &StepKind) -> What {
        let world = &self.world;
        match step {
            StepKind::Abort(handle) => match &lock(&world.abort_handles)[*handle] {
                Some(handle) => L::abort(handle),
                None => return What::Nothing,
            },
            StepKind::IsFinished(handle) => {
                return match &lock(&world.abort_handles)[*handle] {
                    Some(handle) => What::Finished(L::is_finished(handle)),
                    None => What::Nothing,
                };
            }
            StepKind::NotifyOne(notify) => world.notifies[*notify].notify_one(),
            StepKind::NotifyWaiters(notify) => world.notifies[*notify].notify_waiters(),
            StepKind::OneshotSend(oneshot) => {
                let sender = lock(&world.oneshots[*oneshot].sender).take();
                match sender.map(|sender| sender.send(())) {
                    None => return What::Nothing,
                    Some(Err(())) => return What::Closed,
                    Some(Ok(())) => {}
                }
            }
            _ => return What::Nothing,
        }
        What::Done
    }

    /// Performs the steps on another thread.
    fn elsewhere(&self, branch: &Branch) {
        let runtime = L::current();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for step in branch {
                    match &step.kind {
                        StepKind::Spawn { handle, branch, .. } => {
                            self.keep(
                                *handle,
                                L::spawn_on(&runtime, Task::new(&self.world, false).run(branch.clone())),
                            );
                        }
                        other => {
                            self.step_at_once(other);
                        }
                    }
                }
            });
        });
    }

    fn spawn(&self, handle: usize, is_local: bool, branch: &Branch) {
        let is_local = is_local && self.is_local;
        let future = Task::new(&self.world, is_local).run(branch.clone());
        let spawned = if is_local { L::spawn_local(future) } else { L::spawn(future) };
        self.keep(handle, spawned);
    }

    fn keep(&self, handle: usize, spawned: L::JoinHandle) {
        let abort_handle = L::abort_handle(&spawned);
        // Dropped outside of the locks.
        let _detached = lock(&self.world.handles)[handle].replace(spawned);
        let _replaced = lock(&self.world.abort_handles)[handle].replace(abort_handle);
    }
}

/// Logs the drop of a task's future if the task has not ended.
struct LogDrop<'a, L: Library>(&'a Task<L>);

impl<L: Library> Drop for LogDrop<'_, L> {
    fn drop(&mut self) {
        self.0.log(0, What::Dropped);
    }
}

async fn wake_self() {
    let mut has_woken = false;
    poll_fn(|cx| {
        if has_woken {
            return Poll::Ready(());
        }
        has_woken = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
