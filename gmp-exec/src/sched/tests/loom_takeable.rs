//! A machine's offer, which stands since an earlier blocking section, against takers: no work waits
//! while the machine is in its section and each side relies on the other. And an entry that a taker
//! puts back, because no machine is available, against the machines that are available by then.
//!
//! Seen to fail without the fence in `offer` or in `pop`, when `pop` looks at the region before it
//! clears the offer, when a machine that returns into its section does not offer again, and when a
//! taker that asks hides the processor from others.

use loom::thread::{self, JoinHandle};

use crate::sched::state::idle::Idle;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{ProcessorToken, Region};
use crate::sched::state::sysmon::{Sysmon, calls};
use crate::sched::state::takeable::{Note, Takeable};
use crate::sched::tests::explore;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, fence};
use crate::task::StuckBy;

struct World {
    takeable: Takeable,
    machine: Arc<Machine>,
    /// Stands for a queue.
    published: AtomicBool,
}

/// A machine between two sections of a poll.
fn between_sections() -> Arc<World> {
    let world = World { takeable: Takeable::new(), machine: Machine::new(1), published: AtomicBool::new(false) };
    world.machine.ownership.acquire(ProcessorToken::mint(0..1).remove(0));
    world.begin_section();
    world.machine.ownership.begin_section(Region::Poll);
    Arc::new(world)
}

impl World {
    /// As `handoff::section`. Returns whether there is work, for which the machine itself then
    /// takes the processor.
    fn begin_section(&self) -> bool {
        self.machine.ownership.begin_section(Region::Offered);
        self.takeable.offer(&self.machine);
        self.published.load(Relaxed)
    }

    /// Enters scheduler code from inside the section and returns. Otherwise as
    /// [`begin_section`](Self::begin_section).
    fn enter_and_return(&self) -> bool {
        let (came_from, entry) = self.machine.ownership.enter();
        assert_eq!((came_from, entry), (Region::Offered, None));
        self.machine.ownership.leave(came_from);
        self.takeable.offer(&self.machine);
        self.published.load(Relaxed)
    }

    /// As `wake::submit_global`. Returns whether a processor could be taken.
    fn submit(&self) -> bool {
        self.published.store(true, Relaxed);
        fence(SeqCst);
        self.take()
    }

    /// Looks for an entry, as a taker does. Returns whether there was one.
    fn take(&self) -> bool {
        self.takeable.is_any() && self.takeable.pop().is_some()
    }

    /// As `take::take_listed`, with an heir always available.
    fn take_all(&self) -> bool {
        while let Some(note) = self.takeable.pop() {
            if let Some(_token) = self.takeable.take(&note, 0) {
                return true;
            }
        }
        false
    }
}

#[test]
fn loom_takeable_offer_against_submit() {
    explore(4, || {
        let world = between_sections();
        let submitting = start(&world, World::submit);
        let seen = world.begin_section();
        assert!(submitting.join().unwrap() || seen);
    });
}

/// Another taker may come before the section, take nothing, and remove the offer that the submitter
/// looks for.
#[test]
fn loom_takeable_offer_against_take_and_submit() {
    explore(3, || {
        let world = between_sections();
        let taking = start(&world, World::take);
        let submitting = start(&world, World::submit);
        let seen = world.begin_section();
        let taken = [taking.join().unwrap(), submitting.join().unwrap()].contains(&true);
        assert!(taken || seen);
    });
}

/// The submitter may come while the machine is in scheduler code and find no offer, and then the
/// section goes on.
#[test]
fn loom_takeable_offer_again_against_submit() {
    explore(4, || {
        let world = between_sections();
        let submitting = start(&world, World::submit);
        let seen = world.begin_section() | world.enter_and_return();
        assert!(submitting.join().unwrap() || seen);
    });
}

/// A taker comes before an inner section has ended, and learns only afterwards that it has. By then
/// the machine has returned into the outer section, offers again, and takes the processor itself
/// for the work that it sees.
#[test]
fn loom_takeable_offer_again_against_a_taker_that_finds_nothing() {
    explore(3, || {
        let world = between_sections();
        world.begin_section();
        let submitting = start(&world, |world| {
            world.published.store(true, Relaxed);
            fence(SeqCst);
            world.takeable.is_any() && world.take_all()
        });
        let lost = world.machine.ownership.enter().1.is_some();
        world.machine.ownership.begin_section(Region::Offered);
        let taken = lost || {
            world.takeable.offer(&world.machine);
            world.published.load(Relaxed) && world.take_all()
        };
        assert!(submitting.join().unwrap() || taken);
    });
}

/// sysmon and a submitter have found the same machine asleep in a poll: one of them gets the
/// processor.
#[test]
fn loom_takeable_two_takers_of_one_machine() {
    explore(4, || {
        let world = between_sections();
        let seen = world.machine.ownership.look().unwrap();
        let take = move |world: &World| {
            let note = Note {
                machine: world.machine.clone(),
                seen,
                cause: StuckBy::Blocking,
                since: std::time::Instant::now(),
            };
            world.takeable.take(&note, 0).is_some()
        };
        let other = thread::spawn({
            let world = world.clone();
            move || take(&world)
        });
        let taken = [take(&world), other.join().unwrap()];
        assert_eq!(taken.iter().filter(|&&taken| taken).count(), 1);
        assert!(world.machine.ownership.enter().1.is_some());
    });
}

fn start(world: &Arc<World>, act: fn(&World) -> bool) -> JoinHandle<bool> {
    let world = world.clone();
    thread::spawn(move || act(&world))
}

/// The machine in its section, and the rest of the runtime: no machine is idle, and only sysmon may
/// start another.
struct Runtime {
    world: Arc<World>,
    idle: Idle,
    sysmon: Sysmon,
}

fn in_section() -> Arc<Runtime> {
    let world = between_sections();
    world.begin_section();
    let runtime = Runtime { world, idle: Idle::new(Vec::new(), 3), sysmon: Sysmon::new() };
    runtime.sysmon.starts.open();
    let machines = [(); 2].map(|()| runtime.idle.count_machine());
    assert!(machines.iter().all(Option::is_some), "the machine in its section, and one that comes back");
    Arc::new(runtime)
}

impl Runtime {
    /// As `wake::submit_global`.
    fn submit(&self) -> bool {
        self.world.published.store(true, Relaxed);
        fence(SeqCst);
        self.take_listed(false)
    }

    /// As `obtain_processor`: the machine is listed, and looks for work once more.
    fn come_back(&self) -> bool {
        let _ = self.idle.go_idle(None, &Machine::new(2), false);
        fence(SeqCst);
        self.world.published.load(Relaxed) && self.take_listed(false)
    }

    /// As sysmon, which sleeps until it is to start a machine.
    fn watch(&self) -> bool {
        self.sysmon.calls.bind();
        assert_eq!(self.sysmon.calls.wait(None), calls::START);
        self.take_listed(true)
    }

    /// As `take::take_listed`. No fence comes before the last look: the lock of `Idle` orders that look
    /// and a machine that is listed. Returns whether the processor was taken for a machine.
    fn take_listed(&self, is_sysmon: bool) -> bool {
        while self.world.takeable.is_any() {
            let Some(note) = self.world.takeable.pop() else { break };
            if self.is_machine_available(is_sysmon) {
                return self.world.takeable.take(&note, 0).is_some();
            }
            self.world.takeable.put_back(note);
            self.sysmon.calls.add(calls::START);
            if self.idle.snapshot().spares == 0 {
                break;
            }
        }
        false
    }

    fn is_machine_available(&self, is_sysmon: bool) -> bool {
        self.idle.snapshot().spares > 0 || is_sysmon || self.sysmon.starts.may_start_here()
    }
}

/// The machine comes back between the look for a machine and the return of the entry. The machine
/// finds no entry, and sleeps. sysmon has no thread to give.
///
/// Seen to fail without the second look for a machine, and when that look is before the return of
/// the entry.
#[test]
fn loom_takeable_put_back_against_a_machine_that_comes_back() {
    explore(4, || {
        let runtime = in_section();
        let submitting = act(&runtime, Runtime::submit);
        let coming_back = runtime.come_back();
        assert!(submitting.join().unwrap() | coming_back);
    });
}

/// No machine comes back, and sysmon starts one.
///
/// Seen to fail when sysmon is called before the entry is put back.
#[test]
fn loom_takeable_put_back_against_sysmon() {
    explore(4, || {
        let runtime = in_section();
        let submitting = act(&runtime, Runtime::submit);
        let by_sysmon = runtime.watch();
        assert!(submitting.join().unwrap() | by_sysmon);
    });
}

fn act(runtime: &Arc<Runtime>, act: fn(&Runtime) -> bool) -> JoinHandle<bool> {
    let runtime = runtime.clone();
    thread::spawn(move || act(&runtime))
}
