//! The current runtime, machine, task and budget of each thread.
//!
//! `spawn`, wakers and timers ask "where am I?" at every call, so the answers are in plain cells
//! without a destructor (one address computation, no registration). The current runtime has a
//! destructor, so it is in a separate thread-local.
//!
//! The machine is a raw pointer to a value on the stack of the machine's own thread. It is set by
//! [`as_machine`] for exactly as long as that stack frame lives, and followed only by
//! [`with_machine`]. The same holds for the header of the running task, [`enter_task`] and
//! [`note_wait`].
#![allow(unsafe_code, reason = "follows the pointer to this thread's machine")]

mod entered;
mod random;
mod runtime;
mod task;

use std::cell::Cell;
use std::panic::Location;
use std::ptr;
use std::task::Waker;

pub(crate) use self::entered::{Entered, enter_blocking_section, enter_local_set, entered, set_entered};
pub use self::random::RngSeed;
pub(crate) use self::random::{SeedSource, enter_seed, seeded_random};
pub use self::runtime::TryCurrentError;
pub(crate) use self::runtime::{
    PopRuntime, current_runtime, enter_blocking_thread, push_runtime, with_current, with_scheduler,
};
pub(crate) use self::task::{
    budget, current_task_id, enter_id, enter_task, is_current_task, next_id, set_budget, set_leaf, take_leaf,
    with_header,
};
use crate::metrics::Counter;
use crate::sched::state::machine::TaskCounters;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::outside::OutsideCounters;
use crate::sched::{Local, Scheduler};
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::{Arc, thread_local};
use crate::task::coop::Budget;
use crate::task::{Header, Id, PackedWait, Wait, wake_yielding};

struct Current {
    machine: Cell<*const Local>,
    /// The header of the running task.
    header: Cell<*const Header>,
    /// Where a leaf future of tokio's is being polled, which may have to wait.
    leaf: Cell<Option<&'static Location<'static>>>,
    task_id: Cell<u64>,
    /// Data pointer of the running task's own waker.
    task_waker: Cell<*const ()>,
    budget: Cell<Budget>,
    entered: Cell<Entered>,
    next_id: Cell<u64>,
    last_id: Cell<u64>,
    random: Cell<u32>,
    /// Given by the first runtime that asks for it.
    number: Cell<Option<usize>>,
    /// 0: not given yet.
    thread: Cell<u64>,
    /// Whether the innermost current runtime is the machine's own, so that no handle has to be
    /// looked up.
    machine_is_current: Cell<bool>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            machine: Cell::new(ptr::null()),
            header: Cell::new(ptr::null()),
            leaf: Cell::new(None),
            task_id: Cell::new(0),
            task_waker: Cell::new(ptr::null()),
            budget: Cell::new(None),
            entered: Cell::new(Entered::Nothing),
            next_id: Cell::new(0),
            last_id: Cell::new(0),
            random: Cell::new(0x2545_f491),
            number: Cell::new(None),
            thread: Cell::new(0),
            machine_is_current: Cell::new(false),
        }
    };
}

/// Makes this thread a machine while `f` runs, and the machine's runtime the current one.
pub(crate) fn as_machine<R>(local: &Local, f: impl FnOnce(&Local) -> R) -> R {
    let _runtime = push_runtime(local.scheduler.clone());
    as_machine_of_current(local, f)
}

/// The same if the machine's runtime is the current one already.
pub(crate) fn as_machine_of_current<R>(local: &Local, f: impl FnOnce(&Local) -> R) -> R {
    struct Reset {
        machine: *const Local,
        was_current: bool,
    }
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT.with(|current| {
                current.machine.set(self.machine);
                current.machine_is_current.set(self.was_current);
            });
        }
    }
    let _entered = set_entered(Entered::Runtime(local.scheduler.config.flavor));
    let _reset = CURRENT.with(|current| Reset {
        machine: current.machine.replace(local),
        was_current: current.machine_is_current.replace(true),
    });
    f(local)
}

/// Calls `f` with the machine whose thread this is.
#[inline]
pub(crate) fn with_machine<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    // `f` stays outside of the thread-local's own closure, which is inlined only as long as it is
    // small.
    let machine = CURRENT.with(|current| current.machine.get());
    // SAFETY: `as_machine` sets the pointer for as long as the machine is borrowed by its frame, on
    // this thread.
    f(unsafe { machine.as_ref() })
}

/// Leaves a note about what the running task waits for. Outside of a task nothing happens.
#[inline]
pub(crate) fn note_wait(wait: Wait) {
    note_packed(wait.pack());
}

/// Inlined, it made the compiler leave a `block_in_place` without inlining: 40 instructions more.
#[inline(never)]
fn note_packed(wait: PackedWait) {
    let header = CURRENT.try_with(|current| current.header.get()).unwrap_or(ptr::null());
    // SAFETY: `enter_task` and `with_header` set the pointer for as long as the task is polled on
    // this thread, and a header lives for as long as its task is polled.
    if let Some(header) = unsafe { header.as_ref() } {
        header.progress.note(wait);
    }
}

/// The running task, and where it was spawned. `None`: also in the future of a `block_on`.
pub(crate) fn running_task() -> Option<(Id, &'static Location<'static>)> {
    let (header, id) =
        CURRENT.try_with(|current| (current.header.get(), current.task_id.get())).unwrap_or((ptr::null(), 0));
    // SAFETY: as in `note_packed`.
    let header = unsafe { header.as_ref() }?;
    (header.id.as_u64() == id).then_some((header.id, header.location))
}

/// The running task, and the number of its poll.
pub(crate) fn running_poll() -> Option<(Id, u32)> {
    let header = CURRENT.try_with(|current| current.header.get()).unwrap_or(ptr::null());
    // SAFETY: as in `note_packed`.
    let header = unsafe { header.as_ref() }?;
    Some((header.id, header.progress.read().polls))
}

/// The same for a note that takes longer to make. Outside of a task it is not made.
pub(crate) fn note_wait_of(wait: impl FnOnce() -> Wait) {
    if CURRENT.try_with(|current| !current.header.get().is_null()).unwrap_or(false) {
        note_wait(wait());
    }
}

/// The id of one poll by one machine. Two polls with the same id are practically impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollId(u64);

/// The current poll of this thread; `None` in blocking sections, and on threads that are not
/// machines.
#[inline]
pub(crate) fn current_poll() -> Option<PollId> {
    with_machine(|local| {
        let machine = &local?.machine;
        let poll = machine.ownership.current_poll()?;
        Some(PollId((Arc::as_ptr(machine).addr() as u64).rotate_left(32) ^ poll))
    })
}

/// Calls `f` with the processor that this thread holds, if the thread is a machine of `scheduler`.
/// The thread keeps the processor until `f` returns. In a blocking section `f` gets `None`: it may
/// be long until the thread looks at the processor's queue and timers again.
#[inline]
pub(crate) fn with_processor<R>(scheduler: &Arc<Scheduler>, f: impl FnOnce(Option<usize>) -> R) -> R {
    with_machine(|local| {
        let Some(local) = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler)) else { return f(None) };
        let guard = local.enter();
        let held = guard.held().filter(|_| guard.came_from != Region::Blocking);
        f(held.map(|held| held.index))
    })
}

/// Wakes a future that yields: on the current-thread flavour after all other tasks have been
/// polled, elsewhere at once.
pub(crate) fn defer(waker: &Waker) {
    let is_deferred = with_machine(|local| {
        // On a multi-thread runtime, a task that is woken during its own poll counts as yielding
        // and goes to the tail of the queue.
        local.is_some_and(|local| local.is_current_thread && local.deferred.push(waker))
    });
    if !is_deferred {
        wake_yielding(waker);
    }
}

/// Defers a future whose budget is used up, and counts the poll in which that happens.
pub(crate) fn defer_forced(waker: &Waker) {
    let is_counted = with_machine(|local| local.map(|local| local.count_forced_yield()).is_some());
    if !is_counted {
        // A future of `block_on`. No current runtime: nothing is counted.
        let _ = with_scheduler(|scheduler| outside(scheduler).forced_yields.add_shared(1));
    }
    defer(waker);
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

/// Whether `waker` belongs to the task that this thread polls, and that task is one of
/// `scheduler`'s own and not of a `LocalSet`. A future that the task polls in a nested `block_on`
/// has another waker: the task's poll does not return while that future waits.
pub(crate) fn is_task_of(scheduler: &Arc<Scheduler>, waker: &Waker) -> bool {
    if !is_current_task(waker) || matches!(entered(), Entered::LocalSet(_)) {
        return false;
    }
    with_machine(|local| {
        let local = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler));
        local.is_some_and(|local| local.is_current_thread || local.is_in_poll())
    })
}

/// Picks a processor for a thread that has none.
pub(crate) fn any_processor(scheduler: &Scheduler) -> usize {
    CURRENT.with(|current| {
        let random = current.random.get().wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
        current.random.set(random);
        (random >> 8) as usize % scheduler.processors.len()
    })
}

/// This thread's number, which chooses the part of the global queue and the counters that it uses.
#[inline]
pub(crate) fn number(scheduler: &Scheduler) -> usize {
    CURRENT.with(|current| match current.number.get() {
        Some(number) => number,
        None => {
            let number = scheduler.outside.numbered.fetch_add(1, Relaxed);
            current.number.set(Some(number));
            number
        }
    })
}

/// Which thread of the process this is. Unlike an address or the kernel's number, no later thread
/// gets it; and reading it costs less than `std::thread::current`, which counts a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThisThread(u64);

pub(crate) fn this_thread() -> ThisThread {
    /// Of std under every cfg, as the atomics of loom and shuttle can't be statics.
    static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    CURRENT.with(|current| {
        if current.thread.get() == 0 {
            current.thread.set(1 + LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
        ThisThread(current.thread.get())
    })
}

/// The counters that this thread uses for events that its machine has no counter for, or if it is
/// no machine of `scheduler`'s.
#[inline]
pub(crate) fn outside(scheduler: &Scheduler) -> &OutsideCounters {
    scheduler.outside.of(number(scheduler))
}

/// Counts an event of `scheduler`'s: in this machine's own counters if it is one of `scheduler`'s
/// machines, else in those for threads outside.
#[inline]
pub(crate) fn count(scheduler: &Arc<Scheduler>, counter: impl FnOnce(&TaskCounters) -> &Counter) {
    with_machine(|local| {
        count_on(local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler)), scheduler, counter);
    });
}

/// The same; `local` is the machine of `scheduler`'s that this thread is.
#[inline]
pub(crate) fn count_on(local: Option<&Local>, scheduler: &Scheduler, counter: impl FnOnce(&TaskCounters) -> &Counter) {
    match local {
        Some(local) if !local.is_current_thread => counter(&local.machine.counters).add(1),
        // All threads have the same counters there.
        Some(_) => counter(&scheduler.outside.of(0).tasks).add_shared(1),
        None => counter(&outside(scheduler).tasks).add_shared(1),
    }
}
