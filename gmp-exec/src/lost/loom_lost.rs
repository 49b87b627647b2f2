//! The check for lost tasks against the polls and wake-ups of a task: a task that the check calls
//! lost is not scheduled afterwards.
//!
//! async-task's state word, which loom does not see, is replaced by a lock.
//!
//! Seen to fail when a waker is uncounted before it forwards, when the count is written or read
//! relaxed, when the machine enters scheduler code by a relaxed store, without the look at the
//! machine (L2), and without the second look at the task (L3); of a set, when a relaxed store
//! publishes the end of a poll. Not seen to fail when `waits_since` reads the number of polls only
//! once.

use std::panic::Location;
use std::task::{Wake, Waker};

use loom::thread;

use crate::lost::{polled_by, stuck};
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::tests::explore;
use crate::sync::{Arc, Mutex};
use crate::task::{Id, Observer, PolledTask, Progress, Stage};

const ID: u64 = 7;

struct Task {
    progress: Progress,
    state: Mutex<State>,
}

/// What async-task keeps in its state word.
#[derive(Default)]
struct State {
    is_scheduled: bool,
    is_running: bool,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock();
        let is_new = !std::mem::replace(&mut state.is_scheduled, true);
        let is_running = state.is_running;
        drop(state);
        if is_new && !is_running {
            self.progress.schedule();
        }
    }
}

/// What says which task is polled.
enum By {
    Machine(Arc<Machine>),
    Set(PolledTask),
}

impl By {
    fn machine() -> By {
        By::Machine(Machine::new(1))
    }

    fn set() -> By {
        By::Set(PolledTask::new())
    }

    fn poll<R>(&self, id: u64, poll: impl FnOnce() -> R) -> R {
        let id = Id::from_u64(id).unwrap();
        match self {
            By::Machine(machine) => {
                machine.running.write(id, Location::caller());
                machine.ownership.begin(Region::Poll);
                let result = poll();
                let _ = machine.ownership.enter();
                result
            }
            By::Set(polled) => {
                let around = polled.begin(id);
                let result = poll();
                polled.end(around);
                result
            }
        }
    }

    fn polled(&self) -> Option<Id> {
        match self {
            By::Machine(machine) => polled_by(machine),
            By::Set(polled) => polled.get(),
        }
    }
}

/// A task that was scheduled, what polls it, and its first waker.
struct Stand {
    task: Arc<Task>,
    by: By,
    own: Waker,
}

impl Stand {
    fn new(by: By) -> Arc<Stand> {
        let state = State { is_scheduled: true, is_running: false };
        let task = Arc::new(Task { progress: Progress::new(), state: Mutex::new(state) });
        let own = Observer::observe(Waker::from(task.clone()));
        Arc::new(Stand { task, by, own })
    }

    /// One turn: the poll waits. Returns whether the task was woken meanwhile.
    fn poll(&self) -> bool {
        self.by.poll(ID, || self.poll_task())
    }

    fn poll_task(&self) -> bool {
        *self.task.state.lock() = State { is_scheduled: false, is_running: true };
        self.task.progress.begin_poll();
        self.task.progress.wait();
        let mut state = self.task.state.lock();
        state.is_running = false;
        let was_woken = state.is_scheduled;
        drop(state);
        if was_woken {
            self.task.progress.schedule();
        }
        was_woken
    }

    /// Whether the check calls the task lost.
    fn is_lost(&self) -> bool {
        let observer = Observer::of(&self.own).unwrap();
        let Some(before) = stuck(&self.task.progress, observer) else { return false };
        let is_polled = self.by.polled().is_some_and(|id| id.as_u64() == ID);
        !is_polled && stuck(&self.task.progress, observer) == Some(before)
    }

    fn stage(&self) -> Stage {
        self.task.progress.read().stage
    }
}

/// The only waker is used at any moment of the poll, or after it.
#[test]
fn loom_lost_check_against_a_wake_by_value() {
    check_against_a_wake_by_value(By::machine);
}

#[test]
fn loom_lost_check_of_a_set_against_a_wake_by_value() {
    check_against_a_wake_by_value(By::set);
}

fn check_against_a_wake_by_value(by: fn() -> By) {
    explore(3, move || {
        let stand = Stand::new(by());
        let waker = stand.own.clone();
        let polling = {
            let stand = stand.clone();
            thread::spawn(move || stand.poll())
        };
        let waking = thread::spawn(move || waker.wake());
        let lost = stand.is_lost();
        polling.join().unwrap();
        waking.join().unwrap();
        // A wake-up before the start of the poll was answered by the poll.
        assert!(!lost || stand.stage() == Stage::Waiting, "a lost task was woken");
        // At rest the check knows.
        assert_eq!(stand.is_lost(), stand.stage() == Stage::Waiting);
    });
}

/// The task is polled twice, and gives its waker away again in between.
#[test]
fn loom_lost_check_against_a_second_poll() {
    check_against_a_second_poll(By::machine);
}

#[test]
fn loom_lost_check_of_a_set_against_a_second_poll() {
    check_against_a_second_poll(By::set);
}

/// The set goes on with another task at once.
#[test]
fn loom_lost_check_of_a_set_against_the_next_task() {
    explore(3, || {
        let stand = Stand::new(By::set());
        let waker = stand.own.clone();
        let polling = {
            let stand = stand.clone();
            thread::spawn(move || {
                stand.poll();
                stand.by.poll(ID + 1, || ());
            })
        };
        let waking = thread::spawn(move || waker.wake());
        let lost = stand.is_lost();
        polling.join().unwrap();
        waking.join().unwrap();
        assert!(!lost || stand.stage() == Stage::Waiting, "a lost task was woken");
    });
}

fn check_against_a_second_poll(by: fn() -> By) {
    explore(3, move || {
        let stand = Stand::new(by());
        let waker = stand.own.clone();
        let polling = {
            let stand = stand.clone();
            thread::spawn(move || {
                let was_woken = stand.poll();
                was_woken && stand.poll()
            })
        };
        let waking = thread::spawn(move || {
            waker.wake_by_ref();
            drop(waker.clone());
        });
        let lost = stand.is_lost();
        polling.join().unwrap();
        waking.join().unwrap();
        assert!(!lost || stand.stage() == Stage::Waiting, "a lost task was woken");
        assert_eq!(stand.is_lost(), stand.stage() == Stage::Waiting);
    });
}
