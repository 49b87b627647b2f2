//! What is current on this thread: the runtime, the machine, the task, the budget.
//!
//! `spawn`, wakers and timers ask "where am I?" at every call, so what they need is in plain cells without a destructor
//! (one address computation, no registration). The current handle, which has a destructor, is in a thread-local of its
//! own and is read only by those who need a handle.
//!
//! The machine is a raw pointer to a value on the stack of the machine's own thread. It is set by [`as_machine`] for
//! exactly as long as that stack frame lives, and followed only by [`with_machine`].
#![allow(unsafe_code, reason = "follows the pointer to this thread's machine")]

use std::cell::{Cell, RefCell};
use std::ptr;
use std::task::Waker;

use super::config::Flavor;
use super::{Handle, TryCurrentError};
use crate::metrics::Counter;
use crate::sched::{Anchor, Local, Scheduler, TaskCounters};
use crate::sync::{Arc, thread_local};
use crate::task::coop::{self, Budget};
use crate::task::{Header, Id};

struct Current {
    machine: Cell<*const Local>,
    task_id: Cell<u64>,
    /// Data pointer of the running task's own waker.
    task_waker: Cell<*const ()>,
    budget: Cell<Budget>,
    /// Polls of tasks and of `block_on`'s futures that this thread has begun.
    polls: Cell<u32>,
    entered: Cell<Entered>,
    next_id: Cell<u64>,
    last_id: Cell<u64>,
    random: Cell<u32>,
    /// The innermost current runtime is the machine's own: no handle has to be looked up.
    machine_is_current: Cell<bool>,
}

/// What this thread may do about blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Not inside any runtime.
    Nothing,
    /// Inside `block_on`, or in a task, of a runtime of that flavour: blocking the thread on another future is forbidden.
    Runtime(Flavor),
    /// The same, in the future of a [`Handle::block_on`](super::Handle::block_on), whose thread is not the runtime's:
    /// `block_in_place` needn't give anything on.
    Guest(Flavor),
    /// The same, in the poll of a `LocalSet`: not even `block_in_place` may block the thread.
    LocalSet(Flavor),
}

impl Entered {
    /// The flavour of the runtime that the thread is inside of, whichever is current.
    fn flavor(self) -> Option<Flavor> {
        match self {
            Entered::Nothing => None,
            Entered::Runtime(flavor) | Entered::Guest(flavor) | Entered::LocalSet(flavor) => Some(flavor),
        }
    }
}

/// One poll of a task, or of the future of a `block_on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollId {
    /// The address of the thread's `Current`: threads count their polls separately.
    thread: usize,
    count: u32,
}

impl Current {
    /// Grants a new budget and returns the one before it.
    #[inline]
    fn begin_poll(&self) -> Budget {
        self.polls.set(self.polls.get().wrapping_add(1));
        self.budget.replace(Some(coop::UNITS))
    }
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            machine: Cell::new(ptr::null()),
            task_id: Cell::new(0),
            task_waker: Cell::new(ptr::null()),
            budget: Cell::new(None),
            polls: Cell::new(0),
            entered: Cell::new(Entered::Nothing),
            next_id: Cell::new(0),
            last_id: Cell::new(0),
            random: Cell::new(0x2545_f491),
            machine_is_current: Cell::new(false),
        }
    };

    /// Runtimes that were entered, the innermost last.
    static HANDLES: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

// ---- the machine ----

/// Makes this thread a machine while `f` runs.
pub(crate) fn as_machine<R>(local: &Local, f: impl FnOnce(&Local) -> R) -> R {
    struct Reset(*const Local);
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT.with(|current| current.machine.set(self.0));
        }
    }
    let _handle = push_handle(Handle::of(local.scheduler.clone()));
    let _entered = set_entered(Entered::Runtime(local.scheduler.config.flavor));
    let _reset = Reset(CURRENT.with(|current| {
        current.machine_is_current.set(true);
        current.machine.replace(local)
    }));
    f(local)
}

/// Gives `f` the machine whose thread this is.
#[inline]
pub(crate) fn with_machine<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    // `f` stays outside of the thread-local's own closure, which is inlined only as long as it is small.
    let machine = CURRENT.with(|current| current.machine.get());
    // SAFETY: `as_machine` sets the pointer for as long as the machine is borrowed by its frame, on this thread.
    f(unsafe { machine.as_ref() })
}

/// Gives `f` the processor that this thread holds, if it is a machine of `scheduler`, and not in a blocking section, after
/// which it may be long until it looks at what is the processor's. It keeps the processor until `f` returns.
#[inline]
pub(crate) fn with_processor<R>(scheduler: &Arc<Scheduler>, f: impl FnOnce(Option<usize>) -> R) -> R {
    with_machine(|local| {
        let Some(local) = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler)) else { return f(None) };
        let sched = local.enter();
        let held = sched.held().filter(|_| !sched.interrupted().is_blocking());
        f(held.map(|held| held.index))
    })
}

/// Wakes a future that yields: once all others have had their turns, or else at once.
pub(crate) fn defer(waker: &Waker) {
    let is_deferred = with_machine(|local| {
        // Elsewhere what is woken during its own poll is taken for a yield, and goes behind the others.
        local.is_some_and(|local| local.is_current_thread && local.deferred.push(waker))
    });
    if !is_deferred {
        waker.wake_by_ref();
    }
}

/// Until the guard is dropped, a future that yields on this thread is woken at once.
pub(crate) fn suspend_deferral() -> ResumeDeferral {
    ResumeDeferral(with_machine(|local| local.is_some_and(|local| local.deferred.suspend(true))))
}

#[must_use]
pub(crate) struct ResumeDeferral(bool);

impl Drop for ResumeDeferral {
    fn drop(&mut self) {
        with_machine(|local| local.map(|local| local.deferred.suspend(self.0)));
    }
}

/// The processor that this thread holds, if it is a machine of `scheduler`.
pub(crate) fn processor_of(scheduler: &Arc<Scheduler>) -> Option<usize> {
    with_machine(|local| {
        let local = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler))?;
        local.enter().held().map(|held| held.index)
    })
}

/// Whether `waker` is that of a task of `scheduler`'s own, not of a `LocalSet`, which is being polled here. A future that
/// such a task's thread polls in a `block_on` of its own has another waker: the task does not return while that waits.
pub(crate) fn is_task_of(scheduler: &Arc<Scheduler>, waker: &Waker) -> bool {
    if !is_current_task(waker) || matches!(entered(), Entered::LocalSet(_)) {
        return false;
    }
    with_machine(|local| {
        let local = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler));
        local.is_some_and(|local| local.is_current_thread || local.is_in_poll())
    })
}

/// Some processor, for threads that have none.
pub(crate) fn any_processor(scheduler: &Scheduler) -> usize {
    CURRENT.with(|current| {
        let random = current.random.get().wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
        current.random.set(random);
        (random >> 8) as usize % scheduler.processors.len()
    })
}

/// Counts an event of `scheduler`'s: at this machine, if it is one of that scheduler's, else where everybody may.
#[inline]
pub(crate) fn count(scheduler: &Arc<Scheduler>, counter: impl FnOnce(&TaskCounters) -> &Counter) {
    let is_on_roster = |local: &&Local| Arc::ptr_eq(&local.scheduler, scheduler) && !local.is_current_thread;
    with_machine(|local| match local.filter(is_on_roster) {
        Some(local) => counter(&local.machine.counters).add(1),
        None => counter(&scheduler.outside.tasks).add_shared(1),
    });
}

// ---- the task ----

/// Makes a task current until the guard is dropped.
#[inline]
pub(crate) fn enter_task(id: Id, waker: &Waker) -> LeaveTask {
    CURRENT.with(|current| LeaveTask {
        id: current.task_id.replace(id.as_u64()),
        waker: current.task_waker.replace(waker.data()),
        budget: current.begin_poll(),
    })
}

pub(crate) struct LeaveTask {
    id: u64,
    waker: *const (),
    budget: Budget,
}

impl Drop for LeaveTask {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.task_id.set(self.id);
            current.task_waker.set(self.waker);
            current.budget.set(self.budget);
        });
    }
}

/// Makes a task's id current until the guard is dropped, for what is dropped on its behalf.
pub(crate) fn enter_id(id: Id) -> LeaveId {
    LeaveId(CURRENT.try_with(|current| current.task_id.replace(id.as_u64())).unwrap_or(0))
}

#[must_use]
pub(crate) struct LeaveId(u64);

impl Drop for LeaveId {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.task_id.set(self.0));
    }
}

/// The id of the running task; 0 if there is none.
pub(crate) fn current_task_id() -> u64 {
    CURRENT.try_with(|current| current.task_id.get()).unwrap_or(0)
}

/// Whether `waker` is the running task's own.
#[inline]
pub(crate) fn is_current_task(waker: &Waker) -> bool {
    CURRENT.with(|current| !waker.data().is_null() && ptr::eq(current.task_waker.get(), waker.data()))
}

/// The future of a `block_on` is about to be polled. Dropping the guard ends the poll's budget.
pub(crate) fn begin_root_poll() -> coop::ResetBudget {
    coop::ResetBudget::to(CURRENT.with(Current::begin_poll))
}

/// The poll that this thread is in, or was in last.
#[inline]
pub(crate) fn current_poll() -> PollId {
    CURRENT.with(|current| PollId { thread: ptr::from_ref(current).addr(), count: current.polls.get() })
}

#[inline]
pub(crate) fn budget() -> Budget {
    CURRENT.try_with(|current| current.budget.get()).unwrap_or(None)
}

#[inline]
pub(crate) fn set_budget(budget: Budget) {
    let _ = CURRENT.try_with(|current| current.budget.set(budget));
}

/// A poll ends with the task waiting: remembers or forgets how it has treated its thread.
#[inline]
pub(crate) fn note_offence(header: &Header) {
    with_machine(|local| {
        let Some(local) = local else { return };
        let ownership = &local.machine.ownership;
        let is_lost = ownership.is_claimed() || local.lost.get().is_some();
        if is_lost || local.hog.get().is_some() || ownership.is_marked() {
            crate::sched::learn(local, header);
        }
    });
}

/// Hands out ids from this thread's block.
pub(crate) fn next_id(next_block: impl FnOnce() -> u64, block: u64) -> u64 {
    let local = CURRENT.try_with(|current| {
        if current.next_id.get() == current.last_id.get() {
            return None;
        }
        let id = current.next_id.get();
        current.next_id.set(id + 1);
        Some(id)
    });
    if let Ok(Some(id)) = local {
        return id;
    }
    let first = next_block();
    let _ = CURRENT.try_with(|current| {
        current.next_id.set(first + 1);
        current.last_id.set(first + block);
    });
    first
}

// ---- the runtime ----

/// Gives `f` the current runtime's handle.
pub(crate) fn with_current<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
    let mut f = Some(f);
    let result = HANDLES.try_with(|handles| {
        let current = handles.borrow().last().cloned();
        (f.take().expect("called once"))(current.as_ref())
    });
    result.unwrap_or_else(|_| (f.take().expect("not called before"))(None))
}

/// Gives `f` the current runtime's scheduler.
///
/// # Errors
///
/// Fails outside of a runtime.
#[inline]
pub(crate) fn with_scheduler<R>(f: impl FnOnce(&Anchor) -> R) -> Result<R, TryCurrentError> {
    let is_own = CURRENT.try_with(|current| current.machine_is_current.get()).unwrap_or(false);
    if is_own {
        return Ok(with_machine(|local| f(&local.expect("set by `as_machine` only").scheduler)));
    }
    let handle = with_current(|handle| handle.cloned()).ok_or_else(TryCurrentError::here)?;
    Ok(f(handle.scheduler()))
}

/// Whether this thread's context is gone because the thread is ending.
pub(crate) fn is_destroyed() -> bool {
    HANDLES.try_with(|_| ()).is_err()
}

/// Makes a runtime current until the guard is dropped.
pub(crate) fn push_handle(handle: Handle) -> PopHandle {
    let push = |handles: &RefCell<Vec<Handle>>| {
        let mut handles = handles.borrow_mut();
        handles.push(handle);
        handles.len()
    };
    // While the thread ends nothing can be made current any more, and a runtime may be dropped all the same.
    let depth = HANDLES.try_with(push).ok();
    let machine_was_current = CURRENT.with(|current| current.machine_is_current.replace(false));
    PopHandle { depth, machine_was_current }
}

#[must_use]
#[derive(Debug)]
pub(crate) struct PopHandle {
    /// `None`: nothing was made current.
    depth: Option<usize>,
    machine_was_current: bool,
}

impl Drop for PopHandle {
    fn drop(&mut self) {
        let popped = HANDLES.try_with(|handles| {
            let mut handles = handles.borrow_mut();
            (Some(handles.len()) == self.depth).then(|| handles.pop())
        });
        let _ = CURRENT.try_with(|current| current.machine_is_current.set(self.machine_was_current));
        // The handle is dropped here, with the cell no longer borrowed: it may be the last one of its runtime.
        if matches!(popped, Ok(None)) && !std::thread::panicking() {
            panic!(
                "`EnterGuard` values dropped out of order. Guards returned by `tokio::runtime::Handle::enter()` must \
                 be dropped in the reverse order as they were acquired."
            );
        }
    }
}

pub(crate) fn entered() -> Entered {
    CURRENT.try_with(|current| current.entered.get()).unwrap_or(Entered::Nothing)
}

pub(crate) fn set_entered(entered: Entered) -> ResetEntered {
    ResetEntered(CURRENT.with(|current| current.entered.replace(entered)))
}

/// The poll of a `LocalSet` begins. Where no runtime was entered, blocking the thread stays nobody's business.
pub(crate) fn enter_local_set() -> Option<ResetEntered> {
    match entered() {
        Entered::Runtime(flavor) | Entered::Guest(flavor) => Some(set_entered(Entered::LocalSet(flavor))),
        Entered::Nothing | Entered::LocalSet(_) => None,
    }
}

/// A blocking section begins, in which the thread may also wait for another future. Not so on the current-thread flavour: that
/// future may need the thread, whose processor nobody else will have.
pub(crate) fn enter_blocking_section() -> Option<ResetEntered> {
    (entered().flavor() != Some(Flavor::CurrentThread)).then(|| set_entered(Entered::Nothing))
}

#[must_use]
pub(crate) struct ResetEntered(Entered);

impl Drop for ResetEntered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.entered.set(self.0));
    }
}

/// For threads that run blocking closures only: the runtime is current, and blocking is what they are for.
pub(crate) fn enter_blocking_thread(scheduler: Anchor) -> (PopHandle, ResetEntered) {
    (push_handle(Handle::of(scheduler)), set_entered(Entered::Nothing))
}
