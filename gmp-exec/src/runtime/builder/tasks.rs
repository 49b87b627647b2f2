//! The settings that concern single tasks: hooks at their events.

use crate::runtime::Builder;
use crate::sync::Arc;
use crate::task::TaskMeta;

/// # Events of tasks
impl Builder {
    /// Sets a function that is called for each new task, on the thread that spawns the task and
    /// before the task is queued. Default: none, and no cost.
    ///
    /// Blocking closures and tasks of a [`LocalSet`](crate::task::LocalSet) are not reported; those
    /// of a [`LocalRuntime`](crate::runtime::LocalRuntime) are. A panic in this function is a panic
    /// of the function that spawns the task, which is dropped then. A panic in one of the three
    /// functions below is reported by the panic hook; the task goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static SPAWNED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_task_spawn(|_| { SPAWNED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.spawn(async {});
    /// assert_eq!(SPAWNED.load(Ordering::Relaxed), 1);
    /// ```
    pub fn on_task_spawn<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.task_hooks.on_spawn = Some(Arc::new(f));
        self
    }

    /// Sets a function that is called before each poll of a task, on the thread that polls it.
    ///
    /// Not called for blocking closures, nor when a task is dropped at the end of the runtime. For
    /// an aborted task, the poll in which its future is dropped counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, task::yield_now};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static POLLS: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_before_task_poll(|_| { POLLS.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(yield_now())).unwrap();
    /// assert_eq!(POLLS.load(Ordering::Relaxed), 2);
    /// ```
    pub fn on_before_task_poll<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.task_hooks.before_poll = Some(Arc::new(f));
        self
    }

    /// Sets a function that is called after each poll of a task, on the thread that has polled it.
    ///
    /// After the last poll it is called when the future has been dropped, and after the function of
    /// [`on_task_terminate`](Self::on_task_terminate). A task that is woken during the poll may be
    /// polled again, by another thread, before this function is called.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, TaskMeta};
    /// use std::{cell::Cell, time::Instant};
    ///
    /// thread_local!(static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) });
    ///
    /// fn polled(task: &TaskMeta<'_>) {
    ///     let began = BEGAN.take().unwrap();
    ///     println!("a poll of task {} took {:?}", task.id(), began.elapsed());
    /// }
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_before_task_poll(|_| BEGAN.set(Some(Instant::now())))
    ///     .on_after_task_poll(polled)
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// ```
    pub fn on_after_task_poll<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.task_hooks.after_poll = Some(Arc::new(f));
        self
    }

    /// Sets a function that is called when the future of a task has been dropped: because it is
    /// ready or has panicked, because the task was aborted, or at the end of the runtime. Blocking
    /// closures are reported, too.
    ///
    /// The function is called, as on tokio, when the task's [`JoinHandle`](crate::task::JoinHandle)
    /// is ready and what awaits the handle was woken. On the multi-thread flavour the waiting side
    /// may go on before the function has returned.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static ENDED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .on_task_terminate(|_| { ENDED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert_eq!(ENDED.load(Ordering::Relaxed), 1);
    /// ```
    pub fn on_task_terminate<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.task_hooks.on_end = Some(Arc::new(f));
        self
    }

    /// Tells the functions around polls how long the task has waited for the poll
    /// ([`TaskMeta::schedule_latency`]). Has no effect without such functions.
    ///
    /// Each wake-up and each poll then take a reading of the clock longer (about 25 ns).
    /// [`enable_metrics_schedule_latency_histogram`] includes this; with hooks the histogram counts
    /// each scheduling. Default: latencies are not measured.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .track_task_schedule_latency()
    ///     .on_before_task_poll(|task| println!("{:?}", task.schedule_latency().unwrap()))
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// ```
    ///
    /// [`enable_metrics_schedule_latency_histogram`]:
    ///     Self::enable_metrics_schedule_latency_histogram
    pub fn track_task_schedule_latency(&mut self) -> &mut Self {
        self.histograms.tells_latencies = true;
        self
    }
}
