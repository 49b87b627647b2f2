//! The part of a set that only its thread accesses, and the current set of each thread.
//!
//! `LocalContext` is neither `Send` nor `Sync`: it lives in an [`Rc`] and on one thread. Tasks are
//! made, run and cancelled only through it. So a `&LocalContext` proves that the caller is on the
//! set's thread, and that is why the futures of its tasks needn't be `Send`:
//!
//! * `spawn` makes a task, and only `run_tasks` and `end` poll and drop its future: all of them on
//!   this thread.
//! * Another thread may hold the scheduled task for a moment while it wakes the task. It only moves
//!   the task into the inbox.
//! * A scheduled task in the inbox is never dropped by another thread: each task holds its home, so
//!   the inbox lives as long as any task is in it.
//!
//! The order is tokio's. Tasks that the set's thread has woken run in the order of their wake-ups,
//! whether or not the set was being polled at that time. Tasks that other threads have woken run
//! when there are no others; but every [`FOREIGN_FIRST`] turns one of them comes first. One queue
//! under a lock would be simpler, but would take the lock for each wake-up between tasks of the
//! set.
#![allow(unsafe_code, reason = "vouches for futures that are not `Send`")]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;
use std::task::Waker;

use super::all;
use super::home::{Drives, LocalHome};
use crate::lost;
use crate::observe::{self, Driver};
use crate::seeded;
use crate::sync::Arc;
use crate::task::console::span;
use crate::task::spawn::{is_large, new_local_task, start_local};
use crate::task::{Header, Home, HomeRef, JoinHandle, Kind, Runnable, cancel, watch};

/// How many tasks a poll of the set polls before it returns, so that other futures are polled.
/// tokio's number, a prime.
pub(super) const MOST_POLLS: usize = 61;

/// Every so many turns a task that another thread has woken comes first. tokio's number, a prime.
const FOREIGN_FIRST: u8 = 31;

thread_local! {
    /// The set that `spawn_local` spawns on.
    static CURRENT: RefCell<Option<Rc<LocalContext>>> = const { RefCell::new(None) };
}

pub(super) struct LocalContext {
    home: Arc<LocalHome>,
    /// The same home, as the tasks of the set refer to it.
    of_tasks: HomeRef,
    /// Tasks that the set's thread has woken.
    queue: RefCell<VecDeque<Runnable>>,
    /// Tasks that other threads have woken.
    foreign: RefCell<VecDeque<Runnable>>,
    /// Counts turns.
    tick: Cell<u8>,
    /// Whether the set is being polled, so that a push to the queue needn't wake it.
    is_polled: Cell<bool>,
}

/// Queues a task of a set that has become scheduled. Called from any thread.
pub(in crate::task) fn submit(task: Runnable) {
    observe::on_local_schedule(task.metadata(), || home_of(&task).runtime());
    let mut task = Some(task);
    // While the thread ends there is no current set.
    let _ = CURRENT.try_with(|current| {
        if let Some(context) = &*current.borrow() {
            task = task.take().and_then(|task| context.push(task));
        }
    });
    if let Some(task) = task {
        submit_elsewhere(task);
    }
}

fn submit_elsewhere(task: Runnable) {
    // The task may run and be freed as soon as it is queued, so keep its home alive.
    let home = home_of(&task).clone();
    home.push(task);
}

fn home_of(task: &Runnable) -> &Arc<LocalHome> {
    let Home::Local(home) = &*task.metadata().home else { unreachable!("only local tasks go to a set") };
    home
}

impl LocalContext {
    pub(super) fn new(home: LocalHome) -> Rc<LocalContext> {
        let home = Arc::new(home);
        all::add(&home);
        Rc::new(LocalContext {
            of_tasks: HomeRef::new(Home::Local(home.clone())),
            home,
            queue: RefCell::default(),
            foreign: RefCell::default(),
            tick: Cell::new(0),
            is_polled: Cell::new(false),
        })
    }

    pub(super) fn current() -> Option<Rc<LocalContext>> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    pub(super) fn home(&self) -> &Arc<LocalHome> {
        &self.home
    }

    #[track_caller]
    pub(super) fn spawn<F>(&self, future: F, name: Option<&str>) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let kind = Kind::Task(self.home.observed());
        let header = Header::named(self.of_tasks.clone(), kind, Location::caller(), name);
        let given = size_of::<F>();
        if const { is_large::<F>() } {
            self.start(header, Box::pin(future), given)
        } else {
            self.start(header, future, given)
        }
    }

    fn start<F>(&self, mut header: Header, future: F, given: usize) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let future = span::of_task(&mut header, future, given);
        // SAFETY: the header's home is that of `self`, whose thread this is, and whose tasks are
        // polled and dropped on its thread only (see the module docs).
        let (runnable, handle) = unsafe { new_local_task(header, future) };
        self.home.count_spawned();
        // The dump can't look into the queue, which is this thread's alone.
        let _key = self.home.registry().list(runnable.metadata());
        if self.home.is_closed() {
            cancel(runnable);
        } else {
            start_local(runnable);
        }
        handle
    }

    /// Makes the set the thread's current one.
    pub(super) fn make_current(self: &Rc<Self>) -> ResetCurrent {
        let replaced = CURRENT.try_with(|current| current.replace(Some(self.clone())));
        ResetCurrent { before: replaced.unwrap_or_default() }
    }

    /// Begins a poll of the set by the task that `waker` wakes.
    pub(super) fn begin_poll(self: &Rc<Self>, waker: &Waker, drives: Drives) -> Polling<'_> {
        if self.home.on_panic.has_panicked() {
            self.panic();
        }
        // In a nested poll no waker has to be registered: the outer poll runs the tasks, too.
        if !self.is_polled.get() {
            self.home.register(waker, drives);
            self.home.note_runtime();
        }
        self.look_into_inbox();
        let driver = Driver::current(self.home.runtime());
        self.home.note_worker(driver.worker);
        self.polling(driver)
    }

    /// Ends all tasks: those that wait are woken, and all that are scheduled are cancelled until
    /// none is left.
    pub(super) fn end(self: &Rc<Self>) {
        if let Some(scheduler) = self.home.scheduler() {
            lost::note_end_of_set(&scheduler, &self.home);
        }
        let polling = self.polling(Driver::default());
        self.home.close();
        loop {
            let mut tasks: Vec<_> = std::iter::from_fn(|| polling.next()).collect();
            // The oldest first, as on tokio.
            tasks.sort_by_key(|task| task.metadata().id);
            tasks.into_iter().for_each(cancel);
            if self.home.is_empty() {
                return;
            }
            // Another thread is waking a task and has not handed it over yet.
            self.home.wait_for_arrival();
        }
    }

    /// A task has panicked, and that ends the set.
    #[cold]
    fn panic(self: &Rc<Self>) -> ! {
        self.end();
        std::panic::panic_any(self.home.panic_message());
    }

    fn look_into_inbox(&self) {
        self.home.move_into(&mut self.queue.borrow_mut(), &mut self.foreign.borrow_mut());
    }

    fn polling(self: &Rc<Self>, driver: Driver) -> Polling<'_> {
        Polling { _reset: self.make_current(), was_polled: self.is_polled.replace(true), driver, context: self }
    }

    /// Returns the task if it must go to an inbox, because it is of another set or this set is not
    /// being polled.
    fn push(&self, task: Runnable) -> Option<Runnable> {
        let is_ours = matches!(&*task.metadata().home, Home::Local(home) if Arc::ptr_eq(home, &self.home));
        if !is_ours || !self.is_polled.get() {
            return Some(task);
        }
        self.queue.borrow_mut().push_back(task);
        None
    }
}

impl fmt::Debug for LocalContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalContext").field("is_polled", &self.is_polled).finish_non_exhaustive()
    }
}

/// The set is current and being polled until this guard is dropped.
pub(super) struct Polling<'a> {
    context: &'a Rc<LocalContext>,
    was_polled: bool,
    driver: Driver,
    _reset: ResetCurrent,
}

impl Polling<'_> {
    /// Polls tasks until there are none, or [`MOST_POLLS`] have been polled. Returns whether there
    /// may be more.
    #[must_use = "if there are more, the set must be polled again"]
    pub(super) fn run_tasks(&self) -> bool {
        for _ in 0..MOST_POLLS {
            let Some(task) = self.next() else { return false };
            let around = self.context.home.polled.begin(task.metadata().id);
            self.driver.poll(task, watch::poll_local);
            self.context.home.polled.end(around);
            if self.context.home.on_panic.has_panicked() {
                self.context.panic();
            }
        }
        true
    }

    fn next(&self) -> Option<Runnable> {
        let tick = self.context.tick.get();
        self.context.tick.set(tick.wrapping_add(1));
        if tick % FOREIGN_FIRST == 0 {
            self.context.look_into_inbox();
            return self.next_foreign().or_else(|| self.next_own());
        }
        self.next_own().or_else(|| {
            self.context.look_into_inbox();
            self.next_own().or_else(|| self.next_foreign())
        })
    }

    fn next_own(&self) -> Option<Runnable> {
        let mut queue = self.context.queue.borrow_mut();
        if !seeded::is_on() {
            return queue.pop_front();
        }
        let choices = if seeded::keeps_order() { 1 } else { queue.len() };
        let ids: Vec<_> = queue.iter().take(choices).map(|task| task.metadata().id_and_place()).collect();
        if ids.is_empty() { None } else { queue.remove(seeded::pick_task(&ids)) }
    }

    fn next_foreign(&self) -> Option<Runnable> {
        self.context.foreign.borrow_mut().pop_front()
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.context.is_polled.set(self.was_polled);
    }
}

/// Makes the previous set current again when dropped.
#[derive(Debug)]
pub(super) struct ResetCurrent {
    before: Option<Rc<LocalContext>>,
}

impl Drop for ResetCurrent {
    fn drop(&mut self) {
        let before = self.before.take();
        let _ended = CURRENT.try_with(|current| current.replace(before));
    }
}
