//! Functions of the user's that are called at the events of tasks.
//!
//! A task whose runtime has such functions is *watched* from its birth: a flag in its header, in the
//! byte that each poll loads anyway. So a task that is not watched pays a test when it is spawned,
//! and nothing later (`watch`).

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use super::Id;
use super::header::Header;
use crate::contain::contain;
use crate::sync::Arc;

/// What a [hook](crate::runtime::Builder::on_task_spawn) is told of a task.
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
    /// Room for data that is borrowed from the task.
    _task: PhantomData<&'a ()>,
}

impl TaskMeta<'_> {
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
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .on_task_spawn(|task| assert_eq!(task.spawned_at().line(), 7))
    ///     .build()
    ///     .unwrap();
    /// let task = runtime.spawn(async {});
    /// runtime.block_on(task).unwrap();
    /// ```
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }
}

impl fmt::Debug for TaskMeta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskMeta").field("id", &self.id).field("spawned_at", &self.spawned_at).finish_non_exhaustive()
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

    pub(super) fn spawned(&self, task: &Header) {
        call(&self.on_spawn, task);
    }

    pub(super) fn polling(&self, task: &Header) {
        call(&self.before_poll, task);
    }

    pub(super) fn polled(&self, task: &Header) {
        call(&self.after_poll, task);
    }

    pub(super) fn ended(&self, task: &Header) {
        call(&self.on_end, task);
    }
}

/// A panic of a hook is reported by the panic hook. The task goes on.
fn call(hook: &Option<TaskHook>, task: &Header) {
    if let Some(hook) = hook {
        let meta = TaskMeta { id: task.id, spawned_at: task.location, _task: PhantomData };
        contain(|| hook(&meta));
    }
}

impl fmt::Debug for TaskHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHooks").finish_non_exhaustive()
    }
}
