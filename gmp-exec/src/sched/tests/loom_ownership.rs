//! Taking a processor: a processor has one holder at any moment, and only the holder touches its
//! ring.
//!
//! The ring is a cell that loom watches: an access that is not ordered after the previous one fails
//! the model. So does a machine that touches the ring of a processor that it has lost.
//!
//! Seen to fail without either fence, without the check of the region, the count of polls or the
//! processor, when the machine looks before it writes, when `leave` or `Requested → Taken` is
//! relaxed, when one of the two decisive CAS is a load and a store, and when the cause is written
//! after the decision.

use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::thread;

use crate::sched::state::machine::ownership;
use crate::sched::state::machine::ownership::{Ownership, ProcessorToken, Region, Sighting};
use crate::sched::tests::explore;
use crate::sync::{Arc, Mutex};
use crate::task::StuckBy;

/// One machine, one processor, and a list for the processor when it was taken.
struct Stage {
    machine: Ownership,
    ring: Ring,
    idle: Mutex<Option<ProcessorToken>>,
}

struct Ring(UnsafeCell<u32>);

// SAFETY: loom reports unordered accesses.
unsafe impl Sync for Ring {}

impl Ring {
    fn touch(&self) {
        // SAFETY: loom checks that no other thread is in here.
        self.0.with_mut(|touched| unsafe { *touched += 1 });
    }
}

/// A processor was taken: from which poll, and for which cause.
#[derive(Debug, PartialEq)]
struct Loss {
    poll: u64,
    cause: StuckBy,
}

impl Loss {
    /// The taker's clocks show the number of the poll that it has seen.
    fn of(poll: u64, loss: ownership::Loss) -> Loss {
        assert_eq!((loss.runnable, loss.at), (Duration::from_nanos(poll), poll), "what another taker said");
        Loss { poll, cause: loss.cause }
    }
}

/// A machine that holds the processor.
fn stage() -> Arc<Stage> {
    let token = ProcessorToken::mint(0..1).pop();
    let stage = Stage { machine: Ownership::default(), ring: Ring(UnsafeCell::new(0)), idle: Mutex::new(None) };
    stage.machine.acquire(token.unwrap());
    Arc::new(stage)
}

impl Stage {
    // ---- the machine's side ----

    /// Comes back from user code, and uses the processor if the machine still has it.
    fn enter(&self) -> Option<Loss> {
        let (_, entry) = self.machine.enter();
        match entry {
            None => {
                self.use_processor();
                None
            }
            Some(loss) => {
                assert!(self.machine.holds().is_none(), "a lost processor is not held");
                Some(Loss::of(self.machine.polls(), loss))
            }
        }
    }

    fn use_processor(&self) {
        if self.machine.holds().is_some() {
            self.ring.touch();
        }
    }

    /// Takes the processor back if it is idle.
    fn reacquire(&self) {
        if let Some(token) = self.idle.lock().take() {
            self.machine.acquire(token);
            self.ring.touch();
        }
    }

    /// A poll that does not enter scheduler code.
    fn poll(&self) -> Option<Loss> {
        self.machine.begin(Region::Poll);
        self.enter()
    }

    // ---- the taker's side ----

    /// Takes the processor if the machine seems stuck, uses it, and puts it on the idle list.
    fn take(&self, cause: StuckBy) -> Option<Loss> {
        self.machine.look().and_then(|seen| self.take_seen(seen, cause))
    }

    fn take_seen(&self, seen: Sighting, cause: StuckBy) -> Option<Loss> {
        let loss = ownership::Loss { cause, runnable: Duration::from_nanos(seen.polls), at: seen.polls };
        let Some(token) = self.machine.take(seen, loss) else { return None };
        assert_eq!(token.index(), seen.processor);
        self.ring.touch();
        let before = self.idle.lock().replace(token);
        assert!(before.is_none(), "the processor was there twice");
        Some(Loss { poll: seen.polls, cause })
    }

    fn spawn_taker(self: &Arc<Self>, cause: StuckBy) -> thread::JoinHandle<Option<Loss>> {
        let stage = self.clone();
        thread::spawn(move || stage.take(cause))
    }

    /// After all threads were joined: the processor is held or idle, and not both.
    fn check(&self) {
        let is_idle = self.idle.lock().is_some();
        assert!(is_idle != self.machine.holds().is_some(), "the processor was lost, or is there twice");
    }
}

/// The poll ends while the taker decides.
#[test]
fn loom_ownership_take_against_poll_end() {
    explore(6, || {
        let stage = stage();
        let taker = stage.spawn_taker(StuckBy::Computing);
        let lost = stage.poll();
        assert_eq!(lost, taker.join().unwrap());
        stage.check();
    });
}

/// User code wakes a task, and so enters the scheduler and leaves it again, while the taker
/// decides. The loss is reported once.
#[test]
fn loom_ownership_take_against_wake_in_poll() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = stage.spawn_taker(StuckBy::Computing);
        let mut losses = Vec::new();
        losses.extend(stage.enter());
        stage.machine.leave(Region::Poll);
        losses.extend(stage.enter());
        assert_eq!(losses, Vec::from_iter(taker.join().unwrap()));
        stage.check();
    });
}

/// Scheduler code calls foreign code that enters once more, which asks nothing, and goes on with
/// the ring afterwards. Then the poll goes on, and the processor may be taken again.
#[test]
fn loom_ownership_take_against_an_entry_within_an_entry() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = stage.spawn_taker(StuckBy::Computing);
        let mut losses = Vec::from_iter(stage.enter());
        let (within, entry) = stage.machine.enter();
        assert_eq!((within, entry), (Region::Scheduler, None));
        stage.use_processor();
        stage.machine.leave(within);
        stage.use_processor();
        stage.machine.leave(Region::Poll);
        losses.extend(stage.enter());
        assert_eq!(losses, Vec::from_iter(taker.join().unwrap()));
        stage.check();
    });
}

/// User code enters and leaves a blocking section while the taker decides. For the taker the
/// section and the poll around it are different sightings of the same turn.
#[test]
fn loom_ownership_take_against_nested_section() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = stage.spawn_taker(StuckBy::Blocking);
        let mut losses = Vec::new();
        for region in [Region::Blocking, Region::Poll] {
            losses.extend(stage.enter());
            stage.machine.begin_section(region);
        }
        losses.extend(stage.enter());
        assert_eq!(losses, Vec::from_iter(taker.join().unwrap()));
        stage.check();
    });
}

/// The taker has seen poll k and acts in poll k+1. It must not take from a poll that it has not
/// seen.
#[test]
fn loom_ownership_take_against_next_poll() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = stage.spawn_taker(StuckBy::Computing);
        let mut losses = Vec::from_iter(stage.enter());
        losses.extend(stage.poll());
        assert_eq!(losses, Vec::from_iter(taker.join().unwrap()));
        stage.check();
    });
}

/// The machine hands the processor off by itself, before a long section, while the taker decides.
#[test]
fn loom_ownership_take_against_handing_off() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = stage.spawn_taker(StuckBy::Blocking);
        let mut losses = Vec::from_iter(stage.enter());
        if let Some(token) = stage.machine.release() {
            stage.ring.touch();
            assert!(stage.idle.lock().replace(token).is_none());
        }
        stage.machine.begin_section(Region::Blocking);
        losses.extend(stage.enter());
        assert_eq!(losses, Vec::from_iter(taker.join().unwrap()));
        stage.check();
    });
}

/// The machine changes its processor between two polls. A taker whose look was torn, and that saw
/// one processor with the other's count of polls, must not take it.
#[test]
fn loom_ownership_take_against_change_of_processor() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = stage.spawn_taker(StuckBy::Blocking);
        let mut losses = Vec::from_iter(stage.enter());
        let released = stage.machine.release();
        if released.is_some() {
            let other = ProcessorToken::mint(0..2).pop().unwrap();
            stage.machine.acquire(other);
            stage.machine.begin(Region::Poll);
            let (_, entry) = stage.machine.enter();
            if let Some(loss) = entry {
                losses.push(Loss::of(stage.machine.polls(), loss));
            }
        }
        let taken = stage.idle.lock().take();
        assert!(released.is_none() || taken.is_none_or(|token| token.index() == 1), "two hold the same processor");
        taker.join().unwrap();
    });
}

/// The processor is taken, comes back to the same machine, and is taken again. Each loss is
/// reported with its own cause. The second take may also come before the machine has noticed the
/// first loss.
#[test]
fn loom_ownership_two_takes() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let taker = thread::spawn({
            let stage = stage.clone();
            move || {
                let first = stage.take(StuckBy::Blocking);
                first.into_iter().chain(stage.take(StuckBy::Computing)).collect::<Vec<_>>()
            }
        });
        let mut losses = Vec::from_iter(stage.enter());
        stage.reacquire();
        losses.extend(stage.poll());
        assert_eq!(losses, taker.join().unwrap());
        stage.check();
    });
}

/// A note outlives its poll: a taker that uses the note later is refused, unless the poll still
/// goes on.
#[test]
fn loom_ownership_take_on_an_old_sighting() {
    explore(6, || {
        let stage = stage();
        stage.machine.begin(Region::Poll);
        let seen = stage.machine.look().unwrap();
        let taker = thread::spawn({
            let stage = stage.clone();
            move || {
                let first = stage.take_seen(seen, StuckBy::Blocking);
                first.into_iter().chain(stage.take_seen(seen, StuckBy::Computing)).collect::<Vec<_>>()
            }
        });
        let mut losses = Vec::from_iter(stage.enter());
        stage.reacquire();
        losses.extend(stage.poll());
        assert_eq!(losses, taker.join().unwrap());
        stage.check();
    });
}
