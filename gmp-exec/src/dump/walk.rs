//! The walk over all tasks of a runtime.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;

use super::groups::Pool;
use super::info::{TaskInfo, TaskState};
use super::polled::{Polled, polled_by_machines};
use super::waits::Now;

use crate::lost::locks::{self, Edge};
use crate::lost::{self, Leaks};
use crate::sched::state::global_queue;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::sys::peer::Ports;
use crate::task::registry::Position;
use crate::task::roots::for_each_root;
use crate::task::{Header, Id, LocalHome, Moment, Resource, Runnable, local_sets_of};

/// Entries per turn of a lock, so that a task that needs the lock waits for some microseconds only.
const TURN: usize = 256;
/// So many tasks that have permits are kept for a task that waits for one.
const MOST_HOLDERS: usize = 10;

/// The tasks of a runtime, in no order; see [`Handle::tasks`](crate::runtime::Handle::tasks).
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{Runtime, TaskState};
///
/// let runtime = Runtime::new().unwrap();
/// let line = line!() + 1;
/// let endless = runtime.spawn(std::future::pending::<()>());
/// // The task is known as soon as it has been polled.
/// let info = loop {
///     let known = runtime.handle().tasks().find(|task| task.state == TaskState::Waiting);
///     if let Some(info) = known {
///         break info;
///     }
/// };
/// assert_eq!((info.id, info.location.line(), info.polls), (endless.id(), line, 1));
/// ```
pub struct Tasks {
    scheduler: SchedulerRef,
    polled: HashMap<Id, Polled>,
    queued: HashSet<Id>,
    sets: Vec<Arc<LocalHome>>,
    step: Step,
    /// Tasks that were seen, and are to be returned next.
    seen: VecDeque<TaskInfo>,
    returned: usize,
    /// Tasks in the queues of the processors when the walk began.
    on_workers: usize,
    now: Now,
    ports: Ports,
    /// The tasks that wait for mutexes that others have locked.
    edges: HashMap<Id, Vec<Edge>>,
    /// The tasks that can never run again, as far as wakers are counted.
    lost: HashSet<Id>,
}

/// The queue or registry that is looked at next, and the position in it.
#[derive(Debug)]
enum Step {
    Global(global_queue::Position),
    SmallQueues,
    Registry(Position),
    /// The registry of the set with that index.
    Set(usize, Position),
    Polled,
    Done,
}

impl Tasks {
    pub(crate) fn of(scheduler: SchedulerRef) -> Tasks {
        Tasks {
            polled: polled_by_machines(&scheduler),
            queued: HashSet::new(),
            sets: local_sets_of(&scheduler),
            step: Step::Global(global_queue::Position::default()),
            seen: VecDeque::new(),
            returned: 0,
            on_workers: scheduler.processors.iter().map(|processor| processor.depth()).sum(),
            now: Now {
                coarse: Moment::now(),
                runtime: scheduler.clock.now_ns(),
                closures: scheduler.observers.measuring.now(),
            },
            ports: Ports::default(),
            edges: edges(),
            lost: if scheduler.config.leaks == Leaks::Off { HashSet::new() } else { lost(&scheduler) },
            scheduler,
        }
    }

    /// Another walk, from now on.
    pub(super) fn again(&self) -> impl Iterator<Item = TaskInfo> + use<> {
        let scheduler = self.scheduler.clone();
        std::iter::once_with(|| Tasks::of(scheduler)).flatten()
    }

    pub(super) fn scheduler(&self) -> &SchedulerRef {
        &self.scheduler
    }

    /// How many tasks live that were not returned yet. When the iterator has ended, these are tasks
    /// that wait for their first poll in a processor's own queue, where they can only be counted,
    /// and tasks and closures that were spawned since. Those that have ended since are subtracted.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // No thread runs the tasks of this runtime.
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// runtime.spawn(async {});
    /// let mut tasks = runtime.handle().tasks();
    /// assert_eq!((tasks.by_ref().count(), tasks.unseen()), (1, 0));
    /// ```
    pub fn unseen(&self) -> usize {
        let local: usize = self.sets.iter().map(|set| set.len()).sum();
        (self.scheduler.live_tasks() + local).saturating_sub(self.returned)
    }

    /// Those of the unseen tasks that could be queued on workers.
    pub(super) fn unseen_on_workers(&self) -> usize {
        self.unseen().min(self.on_workers)
    }

    /// The futures of `block_on`, if they are listed.
    pub(super) fn roots(&self) -> Vec<TaskInfo> {
        let mut roots = Vec::new();
        for_each_root(&self.scheduler, |header| roots.push(TaskInfo::root(header, self.now)));
        roots
    }

    /// The pool of the closures: how many run, may run, and wait, and how many threads there are.
    pub(super) fn pool(&self) -> Pool {
        let closures = &self.scheduler.closures;
        let most = self.scheduler.config.max_blocking_threads;
        Pool { running: closures.permits.held(), most, waiting: closures.waiting(), threads: closures.pool.threads() }
    }

    /// Looks at the next part, and chooses the one after it.
    fn look(&mut self) {
        let scheduler = self.scheduler.clone();
        self.step = match std::mem::replace(&mut self.step, Step::Done) {
            Step::Global(from) => match scheduler.global.look(from, TURN, |task| self.see_queued(task)) {
                Some(next) => Step::Global(next),
                None => Step::SmallQueues,
            },
            Step::SmallQueues => {
                self.see_small_queues(&scheduler);
                Step::Registry(Position::default())
            }
            Step::Registry(at) => {
                match scheduler.registry.look(at, TURN, |header, waited| self.see_listed(header, waited, || None)) {
                    Some(next) => Step::Registry(next),
                    None => Step::Set(0, Position::default()),
                }
            }
            Step::Set(index, at) => self.look_at_set(index, at),
            Step::Polled => {
                self.see_polled();
                Step::Done
            }
            Step::Done => Step::Done,
        };
    }

    fn look_at_set(&mut self, index: usize, at: Position) -> Step {
        let Some(set) = self.sets.get(index).cloned() else { return Step::Polled };
        match set.registry().look(at, TURN, |header, waited| self.see_listed(header, waited, || set.worker())) {
            Some(next) => Step::Set(index, next),
            None => Step::Set(index + 1, Position::default()),
        }
    }

    fn see_small_queues(&mut self, scheduler: &Scheduler) {
        scheduler.hogs.look(|task| self.see_queued(task));
        scheduler.closures.look(|task| self.see_queued(task));
        for processor in scheduler.processors.iter() {
            processor.spill.look(|task| self.see_queued(task));
        }
    }

    /// A task in a queue, whose lock the caller holds.
    fn see_queued(&mut self, task: &Runnable) {
        let header = task.metadata();
        if !header.is_listed() && self.queued.insert(header.id) {
            self.seen.push_back(TaskInfo::new(header, self.now.closures));
        }
    }

    /// A task in a shard of the registry, whose lock the caller holds. `worker`: of the set that
    /// the task belongs to. It is asked after the stage is read, because a set says which worker
    /// polls it before it polls tasks.
    fn see_listed(&mut self, header: &Header, waited: Option<Moment>, worker: impl FnOnce() -> Option<usize>) {
        let polled = self.polled.remove(&header.id);
        if self.queued.contains(&header.id) {
            return;
        }
        let mut info = TaskInfo::listed(header, waited, self.now);
        if info.state == TaskState::Running {
            (info.worker, info.stuck) = polled.map_or_else(|| (worker(), None), |polled| (polled.worker, polled.stuck));
        }
        self.seen.push_back(info);
    }

    fn see_polled(&mut self) {
        for (id, polled) in std::mem::take(&mut self.polled) {
            if !self.queued.contains(&id) {
                self.seen.push_back(TaskInfo::first_poll(id, &polled));
            }
        }
    }
}

fn edges() -> HashMap<Id, Vec<Edge>> {
    let mut by_task: HashMap<Id, Vec<Edge>> = HashMap::new();
    locks::edges().into_iter().for_each(|edge| by_task.entry(edge.task).or_default().push(edge));
    by_task
}

/// Some of the other tasks that have permits.
fn of_semaphores(edges: &[&Edge], task: Id) -> Vec<Id> {
    let semaphores = edges.iter().filter(|edge| edge.resource == Resource::Semaphore);
    let holders = semaphores.flat_map(|edge| edge.holders.tasks.iter().copied());
    holders.filter(|holder| *holder != task).take(MOST_HOLDERS).collect()
}

fn lost(scheduler: &Scheduler) -> HashSet<Id> {
    lost::find(scheduler).into_iter().map(|lost| lost.id).collect()
}

impl Iterator for Tasks {
    type Item = TaskInfo;

    fn next(&mut self) -> Option<TaskInfo> {
        loop {
            if let Some(mut info) = self.seen.pop_front() {
                // Not under the lock of the shard.
                info.waits_for.iter_mut().for_each(|wait| wait.look_at_descriptor(&mut self.ports));
                let edges = self.edges.get(&info.id).map_or(&[][..], Vec::as_slice);
                let of_poll: Vec<&Edge> = edges.iter().filter(|edge| edge.polls == info.polls).collect();
                let edges: Vec<&Edge> =
                    info.waits_for.iter_mut().filter_map(|wait| wait.set_holder(&of_poll)).collect();
                info.holders = of_semaphores(&edges, info.id);
                info.is_lost = info.state == TaskState::Waiting && self.lost.contains(&info.id);
                self.returned += 1;
                return Some(info);
            }
            if matches!(self.step, Step::Done) {
                return None;
            }
            self.look();
        }
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("step", &self.step).field("returned", &self.returned).finish_non_exhaustive()
    }
}
