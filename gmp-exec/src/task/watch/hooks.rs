//! The user's functions that are called at the events of tasks.
//!
//! A task whose runtime has such functions is *watched*: its header has a flag from the beginning.
//! The machines of such a runtime poll as for measured polls (`sched::measure`), and the hooks are
//! called there (`watch`). So a task that is not watched costs a test when it is spawned, and
//! nothing later.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use crate::contain::contain;
use crate::sync::Arc;
use crate::task::Id;
use crate::task::cell::header::Header;

/// A task as a [hook](crate::runtime::Builder::on_task_spawn) sees it.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{Builder, TaskMeta};
///
/// fn spawned(task: &TaskMeta<'_>) {
///     println!("task {} was spawned at {}", task.id(), task.spawned_at());
/// }
///
/// let runtime = Builder::new_current_thread().on_task_spawn(spawned).build().unwrap();
/// runtime.block_on(runtime.spawn(async {})).unwrap();
/// ```
pub struct TaskMeta<'a> {
    id: Id,
    spawned_at: &'static Location<'static>,
    schedule_latency: Option<Duration>,
    /// Room for data that is borrowed from the task.
    _task: PhantomData<&'a ()>,
}

impl TaskMeta<'_> {
    pub(in crate::task) fn of(task: &Header) -> TaskMeta<'static> {
        TaskMeta { id: task.id, spawned_at: task.location, schedule_latency: None, _task: PhantomData }
    }

    pub(in crate::task) fn with_latency(self, schedule_latency: Option<Duration>) -> Self {
        TaskMeta { schedule_latency, ..self }
    }

    /// Returns the id of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::mpsc;
    ///
    /// let (ids, seen) = mpsc::channel();
    /// let runtime = Builder::new_current_thread()
    ///     .on_task_terminate(move |task| ids.send(task.id()).unwrap())
    ///     .build()
    ///     .unwrap();
    /// let task = runtime.spawn(async {});
    /// let id = task.id();
    /// runtime.block_on(task).unwrap();
    /// assert_eq!(seen.recv().unwrap(), id);
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns where the task was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// static LINE: AtomicU32 = AtomicU32::new(0);
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .on_task_spawn(|task| LINE.store(task.spawned_at().line(), Relaxed))
    ///     .build()
    ///     .unwrap();
    /// let (task, line) = (runtime.spawn(async {}), line!());
    /// runtime.block_on(task).unwrap();
    /// assert_eq!(LINE.load(Relaxed), line);
    /// ```
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }

    /// Returns how long the task has waited for this poll since it was spawned or woken.
    ///
    /// Only the hooks around polls get this time, and only if [`track_task_schedule_latency`] or
    /// [`enable_metrics_schedule_latency_histogram`] asks for it. `None` elsewhere, and for the
    /// local tasks of a [`LocalRuntime`](crate::runtime::LocalRuntime).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .track_task_schedule_latency()
    ///     .on_before_task_poll(|task| {
    ///         assert!(task.schedule_latency().unwrap() >= Duration::from_micros(1_999));
    ///     })
    ///     .build()
    ///     .unwrap();
    /// let task = runtime.spawn(async {}); // runs when there is a thread in `block_on`
    /// std::thread::sleep(Duration::from_millis(2));
    /// runtime.block_on(task).unwrap();
    /// ```
    ///
    /// [`track_task_schedule_latency`]: crate::runtime::Builder::track_task_schedule_latency
    /// [`enable_metrics_schedule_latency_histogram`]:
    ///     crate::runtime::Builder::enable_metrics_schedule_latency_histogram
    pub fn schedule_latency(&self) -> Option<Duration> {
        self.schedule_latency
    }
}

impl fmt::Debug for TaskMeta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskMeta")
            .field("id", &self.id)
            .field("spawned_at", &self.spawned_at)
            .field("schedule_latency", &self.schedule_latency)
            .finish_non_exhaustive()
    }
}

pub(crate) type TaskHook = Arc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;

/// The hooks of a runtime.
#[derive(Clone, Default)]
pub(crate) struct TaskHooks {
    pub(crate) on_spawn: Option<TaskHook>,
    pub(crate) before_poll: Option<TaskHook>,
    pub(crate) after_poll: Option<TaskHook>,
    pub(crate) on_end: Option<TaskHook>,
}

impl TaskHooks {
    pub(crate) fn are_any(&self) -> bool {
        [&self.on_spawn, &self.before_poll, &self.after_poll, &self.on_end].into_iter().any(Option::is_some)
    }

    /// A panic is for the caller of the spawn.
    pub(in crate::task) fn spawned(&self, task: &TaskMeta<'_>) {
        if let Some(hook) = &self.on_spawn {
            hook(task);
        }
    }

    pub(in crate::task) fn polling(&self, task: &TaskMeta<'_>) {
        call(&self.before_poll, task);
    }

    pub(in crate::task) fn polled(&self, task: &TaskMeta<'_>) {
        call(&self.after_poll, task);
    }

    pub(in crate::task) fn ended(&self, task: &TaskMeta<'_>) {
        call(&self.on_end, task);
    }
}

/// A panic of a hook is reported by the panic hook. The task goes on.
fn call(hook: &Option<TaskHook>, task: &TaskMeta<'_>) {
    if let Some(hook) = hook {
        contain(|| hook(task));
    }
}

impl fmt::Debug for TaskHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHooks").finish_non_exhaustive()
    }
}
