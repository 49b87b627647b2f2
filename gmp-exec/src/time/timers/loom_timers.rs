//! Models of cancelling against firing: the timers return each waker once.

use std::sync::Arc as StdArc;
use std::task::{Wake, Waker};

use loom::sync::Arc;
use loom::thread;

use super::{TimerSlot, Timers};

struct Nobody;

impl Wake for Nobody {
    fn wake(self: StdArc<Self>) {}
}

/// The timers with one timer due at 10, its slot, and a handle whose strong count tells how many
/// copies of the waker exist.
fn one_timer() -> (Arc<Timers>, TimerSlot, StdArc<Nobody>) {
    let (timers, nobody) = (Arc::new(Timers::new()), StdArc::new(Nobody));
    let (slot, _) = timers.insert(10, Waker::from(nobody.clone()));
    (timers, slot, nobody)
}

fn expire(timers: &Timers, now: u64) -> Vec<Waker> {
    let mut fired = Vec::new();
    timers.expire(now, &mut fired);
    fired
}

#[test]
fn loom_timer_cancel_against_fire() {
    loom::model(|| {
        let (timers, slot, nobody) = one_timer();
        let firing = thread::spawn({
            let timers = timers.clone();
            move || expire(&timers, 10)
        });
        let cancelled = timers.cancel(slot);
        let fired = firing.join().unwrap();
        assert_eq!(fired.len() + usize::from(cancelled.is_some()), 1);
        drop((fired, cancelled));
        assert_eq!((StdArc::strong_count(&nobody), timers.len()), (1, 0));
    });
}

#[test]
fn loom_timer_update_against_fire() {
    loom::model(|| {
        let (timers, slot, _nobody) = one_timer();
        let firing = thread::spawn({
            let timers = timers.clone();
            move || expire(&timers, 10)
        });
        let new = Waker::from(StdArc::new(Nobody));
        let updated = timers.update(slot, &new);
        let fired = firing.join().unwrap();
        assert_eq!(fired.len(), 1);
        assert_eq!(fired[0].will_wake(&new), updated, "the waker that was told that it waits is woken");
    });
}

#[test]
fn loom_timer_two_fire_once() {
    loom::model(|| {
        let (timers, slot, _nobody) = one_timer();
        let firing = thread::spawn({
            let timers = timers.clone();
            move || expire(&timers, 10).len()
        });
        let mut fired = expire(&timers, 10).len();
        fired += firing.join().unwrap();
        assert_eq!(fired, 1);
        assert!(timers.cancel(slot).is_none());
    });
}

#[test]
fn loom_timer_reset_against_fire() {
    loom::model(|| {
        let (timers, slot, _nobody) = one_timer();
        let firing = thread::spawn({
            let timers = timers.clone();
            move || expire(&timers, 10).len()
        });
        let moved = timers.reset(slot, 5);
        let fired = firing.join().unwrap();
        let later = expire(&timers, 10).len();
        assert_eq!(fired + later, 1);
        assert!(moved.is_none_or(|is_earliest| is_earliest));
        assert!(timers.cancel(slot).is_none());
    });
}

/// `earliest`, which is read without the lock, must never be later than a timer that the reader
/// knows to be set.
#[test]
fn loom_timer_earliest_is_never_too_late() {
    loom::model(|| {
        let (timers, slot, _nobody) = one_timer();
        let cancelling = thread::spawn({
            let timers = timers.clone();
            move || timers.cancel(slot).is_some()
        });
        let (_, earliest) = timers.insert(20, Waker::noop().clone());
        assert!(timers.earliest() <= 20, "earliest: {earliest}");
        assert!(cancelling.join().unwrap());
        assert!(timers.earliest() <= 20);
        assert_eq!(timers.next(), 20);
    });
}
