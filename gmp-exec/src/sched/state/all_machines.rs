//! Every machine that has a thread (Go: `allm`). Shutdown waits for these machines, and the
//! scheduler trace prints them.
//!
//! A thread leaves when it has let go of the scheduler. It ends later, when its thread-locals have
//! been destroyed. A thread that waits for the end of the runtime waits in `wait_empty` until
//! threads have left, and in `join` until they have ended.
//!
//! While the runtime lives, each thread that leaves joins the threads that left before it. So only
//! a few threads are unjoined at any time, which matters because the system keeps the stack of a
//! thread until it is joined. A thread that waits for the end of the runtime joins them all, so
//! that threads that leave at the same moment need not end one after the other.

use std::cell::{Cell, RefCell};
use std::io;
use std::time::Instant;

use event_listener::{Event, Listener};

use crate::contain::{abort_on_unwind, discard};
use crate::metrics::Counter;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::TaskCounters;
use crate::sched::state::threads::Threads;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::thread::{Builder, JoinHandle};
use crate::sync::{Arc, Mutex, thread_local};

#[doc(alias = "allm")]
#[derive(Clone, Default)]
pub(crate) struct AllMachines(Arc<Inner>);

#[derive(Default)]
struct Inner {
    list: Mutex<List>,
    /// The sum of the counters of machines that have left.
    left_behind: TaskCounters,
    /// Notified whenever a machine has left, or is no longer awaited.
    left: Event,
}

#[derive(Default)]
struct List {
    entries: Vec<Entry>,
    /// The threads that have left and are ending, until another thread joins them.
    ending: Vec<JoinHandle<()>>,
    /// A thread waits for the end of the runtime and will join them all.
    is_awaited: bool,
}

struct Entry {
    machine: Arc<Machine>,
    /// `None` only in models.
    thread: Option<JoinHandle<()>>,
}

thread_local! {
    /// The address of the `AllMachines` that lists this thread, or did. It has no destructor,
    /// because it is read until the thread has ended.
    static OWN: Cell<usize> = const { Cell::new(0) };
    /// While the function of a closure runs that may be abandoned.
    static NOT_AWAITED: RefCell<Option<Arc<Machine>>> = const { RefCell::new(None) };
}

/// Keeps a machine listed in [`AllMachines`]. Its thread drops this last of all.
pub(crate) struct Membership {
    all_machines: AllMachines,
    machine: Arc<Machine>,
}

/// The calling thread has run the function of a closure that may be abandoned: the end of the
/// runtime waits for the thread again. Called before the thread wakes the task that awaits the
/// closure, because the thread may have to drop that task (sched/README.md §9).
pub(crate) fn await_again() {
    if let Some(machine) = NOT_AWAITED.with(RefCell::take) {
        machine.not_awaited.store(false, SeqCst);
    }
}

impl AllMachines {
    /// Lists a machine whose thread was started elsewhere.
    #[cfg(all(test, loom))]
    pub(crate) fn enter(&self, machine: Arc<Machine>) -> Membership {
        self.0.list.lock().entries.push(Entry { machine: machine.clone(), thread: None });
        Membership { all_machines: self.clone(), machine }
    }

    /// Starts the thread of a machine. The machine is listed until `body` has returned and
    /// everything that `body` has captured is dropped.
    ///
    /// Nothing that a task does unwinds out of `body`. If a bug of gmp does, the process is aborted.
    ///
    /// # Errors
    ///
    /// Fails if the system can't start a thread.
    pub(crate) fn start(
        &self,
        threads: &Threads,
        name: String,
        machine: Arc<Machine>,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let (all_machines, of_thread) = (self.clone(), machine.clone());
        // The thread can't leave before it is listed, because it leaves under the lock, too.
        let mut list = self.0.list.lock();
        let thread = threads.spawn(name, move || {
            abort_on_unwind(move || {
                OWN.with(|own| own.set(all_machines.address()));
                of_thread.bind();
                body();
                drop(Membership { all_machines, machine: of_thread });
            });
        })?;
        list.entries.push(Entry { machine, thread: Some(thread) });
        Ok(())
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn for_each(&self, mut look: impl FnMut(&Arc<Machine>)) {
        self.0.list.lock().entries.iter().for_each(|entry| look(&entry.machine));
    }

    pub(crate) fn any(&self, mut is_meant: impl FnMut(&Machine) -> bool) -> bool {
        self.0.list.lock().entries.iter().any(|entry| is_meant(&entry.machine))
    }

    /// A copy of the list, for callers that must not hold the lock while they use the machines.
    pub(crate) fn copy(&self) -> Vec<Arc<Machine>> {
        self.0.list.lock().entries.iter().map(|entry| entry.machine.clone()).collect()
    }

    /// The sum over all machines, including those that have left.
    pub(crate) fn sum(&self, counter: impl Fn(&TaskCounters) -> &Counter) -> u64 {
        let list = self.0.list.lock();
        let machines = list.entries.iter().map(|entry| &entry.machine.counters);
        machines.chain([&self.0.left_behind]).map(|counters| counter(counters).get()).sum()
    }

    /// The machine of the calling thread is about to run code that may never end, and whose result is
    /// not needed. The caller calls [`await_again`] afterwards.
    pub(crate) fn do_not_await(&self, machine: &Arc<Machine>) {
        machine.not_awaited.store(true, SeqCst);
        NOT_AWAITED.with(|not_awaited| *not_awaited.borrow_mut() = Some(machine.clone()));
        self.0.left.notify(usize::MAX);
    }

    /// The machines that the end of the runtime waits for.
    pub(crate) fn awaited(&self) -> Vec<Arc<Machine>> {
        let list = self.0.list.lock();
        let machines = list.entries.iter().map(|entry| &entry.machine);
        machines.filter(|machine| !machine.not_awaited.load(SeqCst)).cloned().collect()
    }

    /// Waits until every thread has left or is not awaited, but not beyond `deadline`. Returns
    /// whether they have.
    pub(crate) fn wait_empty(&self, deadline: Option<Instant>) -> bool {
        self.0.list.lock().is_awaited = true;
        while !self.awaited().is_empty() {
            let listener = self.0.left.listen();
            if self.awaited().is_empty() {
                break;
            }
            match deadline {
                None => listener.wait(),
                Some(deadline) => {
                    if listener.wait_deadline(deadline).is_none() {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// After `wait_empty`: waits until the threads that have left have ended, but not beyond
    /// `deadline`. A thread of this runtime, which is itself ending, joins none: another thread may
    /// be joining it.
    pub(crate) fn join(&self, deadline: Option<Instant>) {
        let mut list = self.0.list.lock();
        list.is_awaited = false;
        let threads = std::mem::take(&mut list.ending);
        drop(list);
        if OWN.with(Cell::get) == self.address() {
            return;
        }
        match deadline {
            None => join_all(threads),
            Some(deadline) => join_until(threads, deadline),
        }
    }
}

impl Inner {
    /// Takes a machine off the list. Another thread must join its thread.
    fn remove(&self, list: &mut List, machine: &Arc<Machine>) {
        let index = list.entries.iter().position(|entry| Arc::ptr_eq(&entry.machine, machine));
        let entry = list.entries.remove(index.expect("a machine is listed until its membership is dropped"));
        list.ending.extend(entry.thread);
        self.left_behind.spawned.add(machine.counters.spawned.get());
        self.left_behind.finished.add(machine.counters.finished.get());
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let AllMachines(inner) = &self.all_machines;
        let mut list = inner.list.lock();
        let predecessors = if list.is_awaited { Vec::new() } else { std::mem::take(&mut list.ending) };
        inner.remove(&mut list, &self.machine);
        drop(list);
        // Before the join: one of the joined threads may be waiting for all others to leave.
        inner.left.notify(usize::MAX);
        join_all(predecessors);
    }
}

fn join_all(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap_or_else(discard);
    }
}

/// A join has no limit, so another thread joins them. If that thread can't be started they are not
/// joined.
fn join_until(threads: Vec<JoinHandle<()>>, deadline: Instant) {
    if threads.is_empty() || deadline <= Instant::now() {
        return;
    }
    let joined = Event::new();
    let all_joined = joined.listen();
    let joiner = Builder::new().name("gmp-joiner".to_owned()).spawn(move || {
        join_all(threads);
        joined.notify(usize::MAX);
    });
    if let Ok(joiner) = joiner {
        if all_joined.wait_deadline(deadline).is_some() {
            join_all(vec![joiner]);
        }
    }
}
