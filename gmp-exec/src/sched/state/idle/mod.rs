//! Which processors and machines are idle, how many machines spin, and which machine to wake. Only
//! this module touches the idle/spinning word.
//!
//! A submitter that publishes a task races with a machine that parks. Each side writes first and
//! looks second (sched/README.md §4):
//!
//! ```text
//! submitter:  publish the task              │  parking machine:  spinning -= 1, idle += 1
//!             SeqCst fence                  │                    SeqCst fence
//!             spinning == 0 and idle > 0?   │                    any visible work?
//! ```
//!
//! One fence comes first in the single order of SeqCst fences, so at least one side sees the
//! other's write, and the task gets a machine. A machine and its processor go on their lists in one
//! critical section. Otherwise a submitter could find a processor but no machine for it, and would
//! start a thread for nothing.
//!
//! Every submitter reads the word without the lock, and every change is an RMW. The lists are under
//! a lock: a thread that touches them is about to park or to wake a thread, and that futex call
//! costs 20 times as much.

mod lists;
mod resize;

pub(crate) use lists::{Counts, Driver};
use lists::{Lists, ONE_IDLE, ONE_SPINNING, SLEEPER};
use resize::Numbers;

use std::sync::atomic::AtomicUsize;

use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::machine::{Assignment, Machine};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Apart, Arc, Mutex};

pub(crate) struct Idle {
    /// Low half: machines that spin. High half: processors in `lists`. Topmost bit: `lists` has a
    /// sleeper. Apart from the lock, because every submitter reads the word.
    word: Apart<AtomicU64>,
    /// Apart from both: every machine that searches reads them, and they hardly ever change.
    numbers: Apart<Numbers>,
    lists: Mutex<Lists>,
}

impl Idle {
    /// All processors idle, no machine.
    pub(crate) fn new(processors: Vec<ProcessorToken>, most_machines: usize) -> Idle {
        let word = Apart::new(AtomicU64::new(processors.len() as u64 * ONE_IDLE));
        let tokens = processors.len();
        let lists = Lists { processors, tokens, most_machines, ..Lists::default() };
        let numbers = Numbers { active: AtomicUsize::new(tokens), surplus: AtomicUsize::new(0) };
        Idle { word, numbers: Apart::new(numbers), lists: Mutex::new(lists) }
    }

    /// The counts now. After its fence, a submitter that finds [`Counts::should_wake`] has to wake a
    /// machine.
    #[inline]
    pub(crate) fn counts(&self) -> Counts {
        Counts(self.word.load(Relaxed))
    }

    // ---- the submitter's side ----

    /// Assigns an idle processor to a machine, which then spins. `Wake::None` if a machine spins
    /// already. The last idle processor goes to the sleeper unless `keeps_sleeper`. A sleeper that
    /// stayed in the netpoll would be woken by the next event, and would find no processor.
    #[doc(alias = "wakep")]
    pub(crate) fn wake_spinner(&self, keeps_sleeper: bool) -> Wake {
        let spin = |word| Counts(word).should_wake().then_some(word + ONE_SPINNING);
        if self.word.fetch_update(AcqRel, Relaxed, spin).is_err() {
            return Wake::None;
        }
        let mut lists = self.lists.lock();
        let token = lists.pop_processor(&self.word, false);
        let sleeper_first = !keeps_sleeper && lists.processors.is_empty();
        match token.map(|token| lists.assign(&self.word, token, true, sleeper_first)) {
            Some(Ok(wake)) => return wake,
            // Both under the lock, and so before a processor is listed for which a submitter could rely on
            // this spinner.
            Some(Err(token)) => {
                lists.processors.push(token);
                self.word.fetch_add(ONE_IDLE - ONE_SPINNING, AcqRel);
            }
            None => _ = self.word.fetch_sub(ONE_SPINNING, AcqRel),
        }
        Wake::None
    }

    /// Assigns the caller's processor to a machine. Returns the token if no machine is available.
    #[doc(alias = "startm")]
    pub(crate) fn assign_machine(&self, token: ProcessorToken) -> Result<Wake, ProcessorToken> {
        self.lists.lock().assign(&self.word, token, false, false)
    }

    /// Puts a processor without work on the idle list, or retires it if there is a surplus. The
    /// caller must then make a SeqCst fence and look for work once more.
    #[doc(alias = "pidleput")]
    pub(crate) fn put(&self, token: ProcessorToken) {
        let mut lists = self.lists.lock();
        let word = self.list(&mut lists, token);
        self.word.fetch_add(word, AcqRel);
    }

    /// A thread could not be started: its processor, which has no work, is returned as by
    /// [`put`](Idle::put).
    pub(crate) fn not_started(&self, id: usize, token: ProcessorToken, spinning: bool) {
        let mut lists = self.lists.lock();
        lists.uncount_machine(id);
        let spinner = if spinning { ONE_SPINNING } else { 0 };
        let word = self.list(&mut lists, token);
        self.word.fetch_add(word.wrapping_sub(spinner), AcqRel);
    }

    // ---- the searching machine's side ----

    /// Starts to spin, unless half of the busy processors spin already.
    pub(crate) fn try_spin(&self) -> bool {
        let active = self.active();
        let spin = |word| Counts(word).may_spin(active).then_some(word + ONE_SPINNING);
        self.word.fetch_update(AcqRel, Relaxed, spin).is_ok()
    }

    /// A spinning machine has found work. Returns whether it was the last spinner.
    #[must_use = "submitters trusted the last spinner, so it must look for the remaining work"]
    pub(crate) fn stop_spinning(&self) -> bool {
        let before = Counts(self.word.fetch_sub(ONE_SPINNING, AcqRel));
        debug_assert!(before.spinning() > 0, "only a spinner stops spinning");
        before.spinning() == 1
    }

    /// A machine has found no work, or there is a surplus of processors: its processor and the
    /// machine itself go on their lists. The machine must then make a SeqCst fence, look for work
    /// once more, and `rejoin` if there is any.
    #[doc(alias = "stopm")]
    #[doc(alias = "mput")]
    pub(crate) fn go_idle(&self, token: Option<ProcessorToken>, machine: &Arc<Machine>, was_spinning: bool) -> Role {
        let mut lists = self.lists.lock();
        let mut word = token.map_or(0, |token| self.list(&mut lists, token));
        if was_spinning {
            word = word.wrapping_sub(ONE_SPINNING);
        }
        self.word.fetch_add(word, AcqRel);
        if lists.closed {
            return Role::Exit;
        }
        if lists.sleeper.is_none() {
            lists.sleeper = Some(machine.clone());
            self.word.fetch_or(SLEEPER, AcqRel);
            return Role::Sleeper;
        }
        lists.spares.push(machine.clone());
        Role::Spare
    }

    /// A listed machine has seen work. If it gets a processor, it counts as spinning from now on.
    pub(crate) fn rejoin(&self, machine: &Arc<Machine>) -> Rejoin {
        let mut lists = self.lists.lock();
        if !lists.is_listed(machine) {
            return Rejoin::Assigned;
        }
        let Some(token) = lists.pop_processor(&self.word, true) else {
            return Rejoin::NoProcessor;
        };
        lists.unlist(&self.word, machine);
        Rejoin::Run(token)
    }

    /// The sleeper is back from the netpoll. Unless a waker has assigned it something, it gets an
    /// idle processor or becomes a spare.
    pub(crate) fn leave_netpoll(&self, machine: &Arc<Machine>, spin: bool) -> Rejoin {
        let mut lists = self.lists.lock();
        if !lists.is_listed(machine) {
            return Rejoin::Assigned;
        }
        lists.unlist(&self.word, machine);
        match lists.pop_processor(&self.word, spin) {
            Some(token) => Rejoin::Run(token),
            None => {
                lists.spares.push(machine.clone());
                Rejoin::NoProcessor
            }
        }
    }

    /// An idle processor, for a machine that has none and is on no list.
    #[doc(alias = "pidleget")]
    pub(crate) fn acquire(&self) -> Option<ProcessorToken> {
        let mut lists = self.lists.lock();
        if lists.closed { None } else { lists.pop_processor(&self.word, false) }
    }

    /// A spare has waited for its keep-alive. `true`: it is off the list and must exit. The last
    /// `keep` machines stay.
    pub(crate) fn try_exit(&self, machine: &Arc<Machine>, keep: usize) -> bool {
        let mut lists = self.lists.lock();
        let surplus = lists.machines > keep && lists.is_listed(machine);
        if surplus {
            lists.unlist(&self.word, machine);
            lists.uncount_machine(machine.id);
        }
        surplus
    }

    /// Takes a machine off its list, because it will not sleep after all.
    pub(crate) fn unlist(&self, machine: &Arc<Machine>) {
        self.lists.lock().unlist(&self.word, machine);
    }

    // ---- starting threads, sysmon, metrics, shutdown ----

    /// Counts a machine that the caller is about to start. `None`: `max_machines` is reached, or
    /// the runtime is shutting down.
    pub(crate) fn count_machine(&self) -> Option<usize> {
        self.lists.lock().count_machine()
    }

    pub(crate) fn uncount_machine(&self, id: usize) {
        self.lists.lock().uncount_machine(id);
    }

    /// Whether no machine holds this processor. For metrics: takes the lock.
    pub(crate) fn has_processor(&self, index: usize) -> bool {
        let lists = self.lists.lock();
        lists.processors.iter().chain(&lists.retired).any(|token| token.index() == index)
    }

    /// The machine that sleeps in the netpoll, to be interrupted.
    pub(crate) fn sleeper(&self) -> Option<Arc<Machine>> {
        self.lists.lock().sleeper.clone()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let lists = self.lists.lock();
        Snapshot {
            machines: lists.machines,
            spares: lists.spares.len() + usize::from(lists.sleeper.is_some()),
            processors: lists.processors.len(),
            spinning: self.counts().spinning(),
            most_machines: lists.most_machines,
        }
    }

    /// Shutdown: tells all idle machines to exit. Returns them, the processors without a machine, to be
    /// drained, and the driver, to be dropped: it keeps the runtime alive.
    pub(crate) fn close(&self) -> (Vec<Arc<Machine>>, Vec<ProcessorToken>, Option<Driver>) {
        let mut lists = self.lists.lock();
        lists.closed = true;
        let sleeper = lists.take_sleeper(&self.word);
        let machines: Vec<_> = lists.spares.drain(..).chain(sleeper).collect();
        machines.iter().for_each(|machine| machine.assign(Assignment::Exit));
        (machines, lists.take_processors(&self.word), lists.driver.take())
    }

    /// Shutdown: the processors that came back after `close`.
    pub(crate) fn reclaim(&self) -> Vec<ProcessorToken> {
        self.lists.lock().take_processors(&self.word)
    }

    // ---- the current-thread flavour ----

    /// The processor, and the driver if there was one. `None`: another thread drives, or the runtime
    /// is shutting down.
    pub(crate) fn acquire_driver(&self) -> Option<(ProcessorToken, Option<Driver>)> {
        let mut lists = self.lists.lock();
        if lists.closed {
            return None;
        }
        let token = lists.processors.pop()?;
        self.change(|word| word - ONE_IDLE);
        Some((token, lists.driver.take()))
    }

    /// Puts both back. Returns the driver, to be dropped, if the runtime is shutting down.
    pub(crate) fn put_driver(&self, token: ProcessorToken, driver: Driver) -> Option<Driver> {
        let mut lists = self.lists.lock();
        lists.processors.push(token);
        self.change(|word| word + ONE_IDLE);
        if lists.closed { Some(driver) } else { lists.driver.replace(driver) }
    }

    /// No read-modify-write, which costs as much as the lock: on this flavour no machine spins, and
    /// every change is made under the lock.
    fn change(&self, change: impl FnOnce(u64) -> u64) {
        self.word.store(change(self.word.load(Relaxed)), Release);
    }
}

/// How to get the chosen machine running.
#[must_use]
pub(crate) enum Wake {
    /// Nothing to do: a machine spins, or no processor is idle, or no machine may be added.
    None,
    /// Unpark this machine. It has its assignment.
    Spare(Arc<Machine>),
    /// Interrupt the sleeper. It has its assignment.
    Sleeper(Arc<Machine>),
    /// Start a thread. The machine is counted already.
    Start { id: usize, token: ProcessorToken, spinning: bool },
}

/// How a machine that found no work becomes idle.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Role {
    /// Sleep in the netpoll.
    Sleeper,
    /// Park.
    Spare,
    /// Exit: the runtime is shutting down. The processor has been put on the list.
    Exit,
}

/// The result for a listed machine that should not sleep after all.
#[must_use]
pub(crate) enum Rejoin {
    /// The machine is off the list and gets a processor.
    Run(ProcessorToken),
    /// The machine is off the list: a waker has assigned it something.
    Assigned,
    /// Every processor has a machine. This machine is still on a list.
    NoProcessor,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) machines: usize,
    pub(crate) spares: usize,
    pub(crate) processors: usize,
    pub(crate) spinning: usize,
    pub(crate) most_machines: usize,
}

impl Snapshot {
    /// Whether no machine is idle and none may be added.
    pub(crate) fn is_exhausted(self) -> bool {
        self.spares == 0 && self.machines >= self.most_machines
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_last_processor_goes_to_the_sleeper_unless_that_is_kept() {
        assert!(matches!(wake(1, false), Wake::Sleeper(_)));
        assert!(matches!(wake(2, false), Wake::Spare(_)));
        assert!(matches!(wake(1, true), Wake::Spare(_)));
    }

    /// What a waker does that finds a sleeper, a spare, and so many idle processors.
    fn wake(processors: usize, keeps_sleeper: bool) -> Wake {
        let idle = Idle::new(ProcessorToken::mint(0..processors), 2);
        let [sleeper, spare] = [1, 2].map(Machine::new);
        assert_eq!(idle.go_idle(None, &sleeper, false), Role::Sleeper);
        assert_eq!(idle.go_idle(None, &spare, false), Role::Spare);
        idle.wake_spinner(keeps_sleeper)
    }
}
