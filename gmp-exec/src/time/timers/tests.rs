use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};

use super::*;

/// A waker that counts its wakes and, by its strong count, its copies.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn counter() -> (Arc<Counter>, Waker) {
    let counter = Arc::new(Counter::default());
    (counter.clone(), Waker::from(counter))
}

fn fired_at(timers: &Timers, now: u64) -> Vec<Waker> {
    let mut fired = Vec::new();
    timers.expire(now, &mut fired);
    fired
}

fn sets(timers: &Timers, moments: impl IntoIterator<Item = u64>) -> Vec<TimerSlot> {
    moments.into_iter().map(|when| timers.insert(when, Waker::noop().clone()).0).collect()
}

#[test]
fn fires_by_moment_and_equal_moments_by_age() {
    let timers = Timers::new();
    let wakers: Vec<_> = (0..6).map(|_| counter().1).collect();
    for (waker, when) in wakers.iter().zip([30, 10, 20, 10, 30, 10]) {
        timers.insert(when, waker.clone());
    }
    let fired = fired_at(&timers, 30);
    let order: Vec<_> = fired.iter().map(|f| wakers.iter().position(|w| w.will_wake(f)).unwrap()).collect();
    assert_eq!(order, [1, 3, 5, 2, 0, 4]);
}

#[test]
fn fires_at_its_moment_and_not_a_nanosecond_before() {
    let timers = Timers::new();
    sets(&timers, [1_000]);
    assert_eq!(fired_at(&timers, 999).len(), 0);
    assert_eq!(fired_at(&timers, 1_000).len(), 1);
    assert_eq!(fired_at(&timers, u64::MAX).len(), 0);
}

#[test]
fn wakers_are_handed_out_and_not_woken() {
    let timers = Timers::new();
    let (counter, waker) = counter();
    timers.insert(5, waker);
    let fired = fired_at(&timers, 5);
    assert_eq!(counter.0.load(SeqCst), 0);
    fired.into_iter().for_each(Waker::wake);
    assert_eq!((counter.0.load(SeqCst), Arc::strong_count(&counter)), (1, 1));
}

#[test]
fn insert_says_whether_it_is_the_earliest() {
    let timers = Timers::new();
    let earliest = [50, 60, 50, 49].map(|when| timers.insert(when, Waker::noop().clone()).1);
    assert_eq!(earliest, [true, false, false, true]);
    assert_eq!(timers.earliest(), 49);
}

#[test]
fn a_cancelled_timer_does_not_fire_and_returns_its_waker_once() {
    let timers = Timers::new();
    let (counter, waker) = counter();
    let (slot, _) = timers.insert(5, waker);
    sets(&timers, [7]);
    assert!(timers.cancel(slot).is_some());
    assert_eq!(Arc::strong_count(&counter), 1);
    assert!(timers.cancel(slot).is_none());
    assert_eq!(fired_at(&timers, 6).len(), 0);
    assert_eq!(timers.len(), 1);
}

#[test]
fn a_fired_timer_is_gone_even_when_its_place_is_taken_again() {
    let timers = Timers::new();
    let old = sets(&timers, [1])[0];
    assert_eq!(fired_at(&timers, 1).len(), 1);
    let new = sets(&timers, [2])[0];
    assert!(!timers.update(old, Waker::noop()));
    assert!(timers.cancel(old).is_none());
    assert!(timers.reset(old, 3).is_none());
    assert!(timers.update(new, Waker::noop()));
    assert_eq!(fired_at(&timers, 2).len(), 1);
}

#[test]
fn an_updated_timer_wakes_the_new_waker_and_lets_go_of_the_old_one() {
    let timers = Timers::new();
    let ((old, old_waker), (new, new_waker)) = (counter(), counter());
    let (slot, _) = timers.insert(1, old_waker);
    assert!(timers.update(slot, &new_waker));
    assert_eq!(Arc::strong_count(&old), 1);
    fired_at(&timers, 1).into_iter().for_each(Waker::wake);
    assert_eq!((old.0.load(SeqCst), new.0.load(SeqCst)), (0, 1));
}

#[test]
fn updating_with_a_waker_of_the_same_task_copies_nothing() {
    let timers = Timers::new();
    let (counter, waker) = counter();
    let (slot, _) = timers.insert(1, waker.clone());
    let copies = Arc::strong_count(&counter);
    assert!(timers.update(slot, &waker));
    assert_eq!(Arc::strong_count(&counter), copies);
}

#[test]
fn a_postponed_timer_keeps_its_waker_and_fires_at_the_new_moment_only() {
    let timers = Timers::new();
    let (counter, waker) = counter();
    let (slot, _) = timers.insert(10, waker);
    assert_eq!(timers.reset(slot, 20), Some(false));
    assert_eq!(timers.reset(slot, 30), Some(false));
    assert_eq!(fired_at(&timers, 29).len(), 0);
    assert_eq!(timers.earliest(), 30, "expire looks for the next one");
    assert!(timers.update(slot, Waker::noop()));
    assert_eq!(Arc::strong_count(&counter), 1);
    assert_eq!(fired_at(&timers, 30).len(), 1);
}

#[test]
fn a_timer_brought_forward_fires_once_at_the_new_moment() {
    let timers = Timers::new();
    let slot = sets(&timers, [30, 40])[0];
    assert_eq!(timers.reset(slot, 10), Some(true));
    assert_eq!(fired_at(&timers, 10).len(), 1);
    assert!(timers.cancel(slot).is_none());
    assert_eq!(fired_at(&timers, 39).len(), 0);
    assert_eq!(timers.next(), 40);
}

#[test]
fn next_is_exact_after_cancels_and_postponements() {
    let timers = Timers::new();
    let slots = sets(&timers, [10, 20, 30, 40]);
    assert!(timers.cancel(slots[0]).is_some());
    timers.reset(slots[1], 50).unwrap();
    assert_eq!(timers.earliest(), 10, "may be too early");
    assert_eq!(timers.next(), 30);
    assert_eq!(timers.earliest(), 30);
    assert_eq!(fired_at(&timers, 49).len(), 2);
    assert_eq!(timers.next(), 50);
}

#[test]
fn cancelling_the_last_timer_leaves_nothing_to_wake_up_for() {
    let timers = Timers::new();
    for slot in sets(&timers, [10, 20, 30]) {
        assert!(timers.cancel(slot).is_some());
    }
    assert_eq!(timers.earliest(), Timers::NONE);
    assert_eq!((timers.len(), timers.next()), (0, Timers::NONE));
}

#[test]
fn idle_moments_stay_a_bounded_share_of_the_heap() {
    let timers = Timers::new();
    let keep = 1_000;
    sets(&timers, 0..keep);
    for round in 0..10_000 {
        let slot = sets(&timers, [keep + round])[0];
        assert!(timers.cancel(slot).is_some());
        let moments = timers.queue.lock().moments();
        assert!(moments <= keep as usize * 4 / 3 + 64, "{moments} moments for {keep} timers");
    }
    assert_eq!(fired_at(&timers, keep).len(), keep as usize);
}

/// The purpose of the grid: a moment is in the heap once.
/// A burst of timers would be paid for until the end of the runtime.
#[test]
fn the_memory_of_many_timers_is_given_back_when_the_last_one_goes() {
    let timers = Timers::new();
    let ends: [fn(&Timers, TimerSlot); 2] = [
        |timers, slot| assert!(timers.cancel(slot).is_some()),
        |timers, _| timers.expire(Timers::LAST, &mut Vec::new()),
    ];
    for end in ends {
        let slots = sets(&timers, 0..10_000);
        assert!(timers.queue.lock().capacity() >= 10_000);
        slots.into_iter().for_each(|slot| end(&timers, slot));
        assert_eq!(timers.queue.lock().capacity(), 0);
    }
}

#[test]
fn timers_of_the_same_moment_share_it_and_leave_it_in_any_order() {
    let timers = Timers::new();
    let slots = sets(&timers, (0..1_000).map(|i| 100 + i % 2));
    assert_eq!(timers.queue.lock().moments(), 2);
    // The first, the last, and some between, of each.
    for slot in slots.iter().enumerate().filter(|(i, _)| i % 10 < 2 || *i >= 996).map(|(_, slot)| slot) {
        assert!(timers.cancel(*slot).is_some());
    }
    assert_eq!((fired_at(&timers, 100).len(), fired_at(&timers, 101).len()), (398, 398));
    assert_eq!(timers.queue.lock().moments(), 0);
}

#[test]
fn a_moment_that_is_idle_is_not_waited_for_and_can_be_had_again() {
    let timers = Timers::new();
    let slots = sets(&timers, [10, 20]);
    assert!(timers.cancel(slots[0]).is_some());
    sets(&timers, [10]);
    assert_eq!((timers.next(), timers.queue.lock().moments()), (10, 2));
    assert_eq!(fired_at(&timers, 10).len(), 1);
    assert_eq!(timers.next(), 20);
}

#[test]
fn take_all_hands_out_every_waker_and_leaves_the_timers_usable() {
    let timers = Timers::new();
    let (counter, waker) = counter();
    let slots: Vec<_> = (0..5).map(|when| timers.insert(when, waker.clone()).0).collect();
    assert!(timers.cancel(slots[2]).is_some());
    assert_eq!(timers.take_all().len(), 4);
    assert_eq!((Arc::strong_count(&counter), timers.earliest()), (2, Timers::NONE));
    assert!(slots.iter().all(|&slot| !timers.update(slot, &waker)));
    sets(&timers, [3]);
    assert_eq!(fired_at(&timers, 3).len(), 1);
}

#[test]
fn the_latest_moment_that_can_be_told_is_not_taken_for_none() {
    let timers = Timers::new();
    sets(&timers, [u64::MAX]);
    assert_eq!(timers.next(), u64::MAX - 1);
    assert_eq!(fired_at(&timers, u64::MAX - 1).len(), 1);
}

/// The wakers use the timers when they are dropped, which deadlocks if one is dropped under the
/// lock.
#[test]
fn wakers_are_dropped_outside_the_lock() {
    static TIMERS: OnceLock<Timers> = OnceLock::new();
    struct Reentrant;
    impl Wake for Reentrant {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Reentrant {
        fn drop(&mut self) {
            assert!(TIMERS.get().unwrap().len() < 100);
        }
    }
    let timers = TIMERS.get_or_init(Timers::new);
    let new = || Waker::from(Arc::new(Reentrant));

    let (slot, _) = timers.insert(1, new());
    assert!(timers.update(slot, &new()));
    drop(timers.cancel(slot));
    timers.insert(1, new());
    drop(fired_at(timers, 1));
    timers.insert(1, new());
    drop(timers.take_all());
    let (fired, _) = timers.insert(1, Waker::noop().clone());
    fired_at(timers, 1);
    assert!(!timers.update(fired, &new()));
}

#[test]
fn a_waker_that_panics_does_not_keep_the_others_from_being_woken() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::panic_any("a waker of the user's");
        }
    }
    let timers = Timers::new();
    let (counter, waker) = counter();
    timers.insert(1, Waker::from(Arc::new(Panics)));
    timers.insert(2, waker);
    wake_all(fired_at(&timers, 2));
    assert_eq!(counter.0.load(SeqCst), 1);
}

/// The same operations on the timers and on a plain list; both must always agree.
#[test]
fn agrees_with_a_plain_list_whatever_happens() {
    for seed in 1..=50 {
        Comparison::new(seed).run(2_000);
    }
}

struct Comparison {
    random: u64,
    timers: Timers,
    /// The timers that are set: the moment, the age, the slot and the waker.
    model: Vec<(u64, usize, TimerSlot, Waker)>,
    gone: Vec<TimerSlot>,
    now: u64,
    age: usize,
}

impl Comparison {
    fn new(seed: u64) -> Comparison {
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Comparison { random, timers: Timers::new(), model: Vec::new(), gone: Vec::new(), now: 0, age: 0 }
    }

    /// xorshift64.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound
    }

    fn run(mut self, steps: usize) {
        for _ in 0..steps {
            match self.below(16) {
                0..=5 => self.insert(),
                6..=8 => self.cancel(),
                9..=11 => self.reset(),
                12 => self.update(),
                13 => self.touch_a_gone_one(),
                _ => self.expire(),
            }
            self.check();
        }
        self.now = u64::MAX - 1;
        self.expire();
        assert_eq!(self.timers.len(), 0);
    }

    fn insert(&mut self) {
        let (when, waker) = (self.now + self.below(1_000), counter().1);
        let before = self.timers.earliest();
        let (slot, earliest) = self.timers.insert(when, waker.clone());
        assert_eq!(earliest, when < before);
        self.age += 1;
        self.model.push((when, self.age, slot, waker));
    }

    fn cancel(&mut self) {
        let Some(index) = self.any() else { return };
        let (_, _, slot, waker) = self.model.swap_remove(index);
        assert!(self.timers.cancel(slot).is_some_and(|taken| taken.will_wake(&waker)));
        self.gone.push(slot);
    }

    fn reset(&mut self) {
        let Some(index) = self.any() else { return };
        let (when, slot) = (self.now + self.below(1_000), self.model[index].2);
        assert!(self.timers.reset(slot, when).is_some());
        self.age += 1;
        let entry = &mut self.model[index];
        (entry.0, entry.1) = (when, self.age);
    }

    fn update(&mut self) {
        let Some(index) = self.any() else { return };
        let waker = counter().1;
        assert!(self.timers.update(self.model[index].2, &waker));
        self.model[index].3 = waker;
    }

    fn touch_a_gone_one(&mut self) {
        if self.gone.is_empty() {
            return;
        }
        let index = self.below(self.gone.len() as u64) as usize;
        assert!(!self.timers.update(self.gone[index], Waker::noop()));
        assert!(self.timers.cancel(self.gone[index]).is_none());
        assert!(self.timers.reset(self.gone[index], self.now).is_none());
    }

    fn expire(&mut self) {
        self.now = self.now.max(self.now.saturating_add(self.below(100)));
        let fired = fired_at(&self.timers, self.now);
        let (mut due, rest): (Vec<_>, Vec<_>) = self.model.drain(..).partition(|entry| entry.0 <= self.now);
        self.model = rest;
        due.sort_by_key(|&(when, age, ..)| (when, age));
        assert_eq!(fired.len(), due.len());
        assert!(fired.iter().zip(&due).all(|(fired, due)| fired.will_wake(&due.3)));
        self.gone.extend(due.iter().map(|entry| entry.2));
    }

    fn check(&mut self) {
        let exact = self.model.iter().map(|entry| entry.0).min().unwrap_or(Timers::NONE);
        assert!(self.timers.earliest() <= exact);
        assert_eq!(self.timers.len(), self.model.len());
        if self.below(4) == 0 {
            assert_eq!(self.timers.next(), exact);
        }
    }

    fn any(&mut self) -> Option<usize> {
        (!self.model.is_empty()).then(|| self.below(self.model.len() as u64) as usize)
    }
}
