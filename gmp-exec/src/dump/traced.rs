//! `Handle::dump`: every task with the calls above the futures at which it waits (feature
//! `taskdump`).
//!
//! The list of tasks is that of `Handle::tasks`. Then each task that waits is asked for a trace, as
//! [`task::traced`](crate::task) describes, and woken. A thread of its own waits for the traces,
//! because users want a dump when the runtime's threads are stuck, and its timers with them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::info::{Named, Short, TaskInfo};
use super::walk;
use crate::sched::SchedulerRef;
use crate::sync::{Mutex, thread};
use crate::task::registry::{Position, Registry};
use crate::task::{Asked, Found, Id, Trace, local_sets_of};

/// Entries per turn of a lock.
const TURN: usize = 256;
/// How long a dump waits for the next trace, and for the next task that can be asked: a task that
/// waits for its first poll can't.
const LIMIT: Duration = Duration::from_secs(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// The tasks of a runtime, each with its trace; see [`Handle::dump`](crate::runtime::Handle::dump).
#[derive(Debug)]
pub struct Dump {
    tasks: Tasks,
}

/// The tasks of a [`Dump`].
#[derive(Debug)]
pub struct Tasks {
    tasks: Vec<Task>,
}

/// A task of a [`Dump`].
#[derive(Debug)]
pub struct Task {
    info: TaskInfo,
    trace: Trace,
}

impl Dump {
    /// The tasks, in no order.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }
}

impl Tasks {
    /// The tasks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter()
    }
}

impl Task {
    /// The task's id.
    pub fn id(&self) -> Id {
        self.info.id
    }

    /// Where the task waits.
    ///
    /// Some tasks have no stack: those that hold their thread, that wait for a future of another
    /// crate, or that were not polled in time. `Display` then writes in one line what
    /// [`Handle::tasks`](crate::runtime::Handle::tasks) says of the task, and
    /// [`resolve_backtraces`](Trace::resolve_backtraces) returns nothing.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// What the task was doing before it was polled for its trace.
    pub fn info(&self) -> &TaskInfo {
        &self.info
    }
}

/// Makes a dump on a thread of its own. Without such a thread, the dump has no stacks.
pub(crate) async fn dump(scheduler: SchedulerRef) -> Dump {
    let result = Arc::new(Mutex::new((None, Waker::noop().clone())));
    let (told, of) = (result.clone(), scheduler.clone());
    let make = move || {
        let made = make(of);
        let mut result = told.lock();
        result.0 = Some(made);
        let waker = result.1.clone();
        drop(result);
        waker.wake();
    };
    if thread::Builder::new().name("gmp-dump".to_owned()).spawn(make).is_err() {
        let tasks = walk::Tasks::of(scheduler).filter(|task| !task.is_blocking);
        return Dump::of(tasks.map(|task| (task.id, task)).collect(), &Found::default());
    }
    poll_fn(|cx| {
        let mut result = result.lock();
        match result.0.take() {
            Some(dump) => Poll::Ready(dump),
            None => {
                result.1.clone_from(cx.waker());
                Poll::Pending
            }
        }
    })
    .await
}

fn make(scheduler: SchedulerRef) -> Dump {
    let asked = Asked::new();
    let mut walk = walk::Tasks::of(scheduler.clone());
    let mut tasks: HashMap<Id, TaskInfo> = walk.by_ref().map(|task| (task.id, task)).collect();
    let unseen = walk.unseen();
    let is_stuck = |task: &TaskInfo| task.stuck.is_some();
    let stuck: HashSet<Id> = tasks.values().filter(|task| is_stuck(task)).map(|task| task.id).collect();
    let expected = unseen + tasks.values().filter(|task| !task.is_blocking && !is_stuck(task)).count();
    let (mut count, mut since) = (0, Instant::now());
    while since.elapsed() < LIMIT {
        ask_all(&scheduler, &asked, &stuck);
        if unseen > 0 {
            // Tasks that were in no list may be among those that were asked.
            for task in walk::Tasks::of(scheduler.clone()) {
                tasks.entry(task.id).or_insert(task);
            }
        }
        if asked.count() >= expected {
            break;
        }
        if asked.count() != count {
            (count, since) = (asked.count(), Instant::now());
        }
        thread::park_timeout(BETWEEN_LOOKS);
    }
    tasks.retain(|_, task| !task.is_blocking);
    Dump::of(tasks, &asked.wait(LIMIT))
}

/// Asks the tasks that have waited, except those that are stuck: it is not known when their polls
/// end.
fn ask_all(scheduler: &SchedulerRef, asked: &Asked, stuck: &HashSet<Id>) {
    ask_listed(&scheduler.registry, asked, stuck);
    for set in local_sets_of(scheduler) {
        ask_listed(set.registry(), asked, stuck);
    }
}

fn ask_listed(registry: &Registry, asked: &Asked, stuck: &HashSet<Id>) {
    let mut at = Some(Position::default());
    while let Some(position) = at {
        at = registry.wake_some(position, TURN, |header| {
            !header.is_closure() && !stuck.contains(&header.id) && asked.ask(header)
        });
    }
}

impl Dump {
    fn of(tasks: HashMap<Id, TaskInfo>, found: &Found) -> Dump {
        let alive = tasks.into_iter().filter(|(id, _)| !found.ended.contains(id));
        let task = |(id, info): (Id, TaskInfo)| {
            let trace = found.traces.get(&id).filter(|trace| trace.has_stacks()).cloned();
            Task { trace: trace.unwrap_or_else(|| Trace::instead(WithoutStack(&info).to_string())), info }
        };
        Dump { tasks: Tasks { tasks: alive.map(task).collect() } }
    }
}

/// The description of a task without its stack.
struct WithoutStack<'a>(&'a TaskInfo);

impl fmt::Display for WithoutStack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = self.0;
        write!(f, "no stack: {}", task.state)?;
        if let Some(stuck) = task.stuck {
            write!(f, ", holds its thread for {:.1} s", stuck.as_secs_f64())?;
        }
        if !task.waits_for.is_empty() {
            write!(f, " {}", task.waits())?;
        }
        write!(f, ", task{} spawned at {}", Named(&task.name), Short(task.location))
    }
}
