//! The places where tasks were spawned that then computed for too long.

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
    pub(in crate::sched) fn new() -> Suspects {
        Suspects { places: Mutex::new(Vec::new()), is_any: AtomicBool::new(false) }
    }

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
    use super::*;

    #[test]
    fn a_place_is_suspect_after_three_tasks_until_one_has_a_short_poll() {
        let (suspects, here, there) = (Suspects::new(), Location::caller(), other_location());
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
        let suspects = Suspects::new();
        let places: Vec<&'static Location<'static>> =
            (0..=MOST).map(|_| &*Box::leak(Box::new(*Location::caller()))).collect();
        for place in &places {
            (0..ENOUGH).for_each(|_| suspects.add(place));
        }
        assert!(!suspects.contains(places[0]));
        assert!(places[1..].iter().all(|place| suspects.contains(place)));
    }
}
