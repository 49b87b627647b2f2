//! The places where tasks were spawned that then computed for too long.
//!
//! Suspects: new tasks that are likely to compute for too long, because others that were spawned at
//! the same place have done so.
//!
//! Only sysmon finds the first long poll of a task, and until then the task holds a processor. When
//! a hundred tasks arrive that all compute, each of them would hold one for a part of the
//! threshold, and if no permit is left, until its poll ends. So while all permits of hogs are held,
//! a suspect's first poll is treated as a known hog's: it waits for a permit. (120 tasks that
//! compute for 20 ms, p99 of a ticker beside them: 7.5 ms without suspects.)
//!
//! A wrong suspicion delays one poll. When that poll turns out to be short, the place is no longer
//! suspect, and the task is like any other.

use std::panic::Location;
use std::ptr;

use crate::sync::Mutex;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::Relaxed;

/// New tasks of a place are suspects after so many tasks of that place have lost their processors.
/// More than one: a server spawns all its connections at one place, and few of them compute.
const ENOUGH: u8 = 3;
/// How many places are remembered. Programs spawn computing tasks at few places.
const MOST: usize = 16;

#[derive(Default)]
pub(in crate::sched) struct Suspects {
    places: Mutex<Vec<Place>>,
    /// Whether there is a place whose tasks are suspects. A hint: written under the lock, read
    /// without it. A machine that reads an old value treats a task as any other one.
    is_any: AtomicBool,
}

struct Place {
    location: &'static Location<'static>,
    /// Tasks that have lost their processors since a suspect of this place had a short poll.
    taken: u8,
}

impl Suspects {
    /// A task that was spawned there has computed for too long.
    pub(in crate::sched) fn add(&self, location: &'static Location<'static>) {
        let mut places = self.places.lock();
        if let Some(place) = places.iter_mut().find(|place| place.is(location)) {
            place.taken = place.taken.saturating_add(1);
        } else {
            if places.len() == MOST {
                places.remove(0);
            }
            places.push(Place { location, taken: 1 });
        }
        self.update_hint(&places);
    }

    /// A suspect that was spawned there had a short poll.
    pub(in crate::sched) fn clear(&self, location: &'static Location<'static>) {
        let mut places = self.places.lock();
        places.retain(|place| !place.is(location));
        self.update_hint(&places);
    }

    fn update_hint(&self, places: &[Place]) {
        self.is_any.store(places.iter().any(Place::is_suspect), Relaxed);
    }

    #[inline]
    pub(in crate::sched) fn is_any(&self) -> bool {
        self.is_any.load(Relaxed)
    }

    /// Whether new tasks that were spawned there are suspects.
    pub(in crate::sched) fn contains(&self, location: &'static Location<'static>) -> bool {
        self.places.lock().iter().any(|place| place.is(location) && place.is_suspect())
    }
}

impl Place {
    /// The compiler may make several copies of a location. Tasks of different copies are then
    /// counted separately.
    fn is(&self, location: &'static Location<'static>) -> bool {
        ptr::eq(self.location, location)
    }

    fn is_suspect(&self) -> bool {
        self.taken >= ENOUGH
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::runtime::{Builder, Handle};
    use crate::sync::Arc;

    #[test]
    fn a_place_is_suspect_after_three_tasks_until_one_has_a_short_poll() {
        let (suspects, here, there) = (Suspects::default(), Location::caller(), other_location());
        for _ in 0..2 {
            suspects.add(here);
            assert!(!suspects.contains(here) && !suspects.is_any());
        }
        suspects.add(here);
        assert!(suspects.contains(here) && suspects.is_any());
        assert!(!suspects.contains(there));
        suspects.clear(there);
        assert!(suspects.contains(here));
        suspects.clear(here);
        assert!(!suspects.contains(here) && !suspects.is_any());
    }

    fn other_location() -> &'static Location<'static> {
        Location::caller()
    }

    #[test]
    fn the_oldest_of_too_many_places_is_forgotten() {
        let suspects = Suspects::default();
        let places: Vec<&'static Location<'static>> =
            (0..=MOST).map(|_| &*Box::leak(Box::new(*Location::caller()))).collect();
        for place in &places {
            (0..ENOUGH).for_each(|_| suspects.add(place));
        }
        assert!(!suspects.contains(places[0]));
        assert!(places[1..].iter().all(|place| suspects.contains(place)));
    }

    fn wait_until(condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(60), "the condition does not come true");
            std::thread::yield_now();
        }
    }

    /// More than can begin while sysmon lets in one after the other.
    const TASKS: usize = 100;
    const WAITING: usize = 80;

    #[test]
    fn new_tasks_of_a_place_whose_tasks_compute_wait_for_a_permit_until_one_has_a_short_poll() {
        let runtime = Builder::new_multi_thread().worker_threads(2).max_hogs(2).build().unwrap();
        let scheduler = runtime.handle().scheduler();
        let end = Arc::new(AtomicBool::new(false));
        let spawn = |handle: &Handle| {
            let end = end.clone();
            handle.spawn(async move {
                while !end.load(SeqCst) {
                    std::hint::spin_loop();
                }
            })
        };
        let tasks: Vec<_> = (0..TASKS).map(|_| spawn(runtime.handle())).collect();
        // None of these has been polled: the polls that have begun last until `end`.
        wait_until(|| scheduler.hogs.waiting() >= WAITING);
        assert!(scheduler.suspects.is_any());
        end.store(true, SeqCst);
        tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
        assert!(!scheduler.suspects.is_any(), "the polls of those that waited were short");
    }
}
