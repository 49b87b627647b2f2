//! Records the accesses of all threads, and counts those that ask another core.
//!
//! shuttle's threads share one real thread, so the recorder is in a thread-local of std's.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::Location;

use super::caches::{Access, Caches, LINE};

thread_local! {
    static THREAD: Cell<usize> = const { Cell::new(0) };
    static RECORDER: RefCell<Recorder> = RefCell::new(Recorder::default());
}

/// A place in the code where lines were touched.
pub type Place = &'static Location<'static>;

#[derive(Debug, Default)]
struct Recorder {
    caches: Caches,
    /// How many accesses each thread has made, and the most that one has.
    accesses: HashMap<usize, u64>,
    most_accesses: u64,
    transfers: HashMap<Place, u64>,
}

/// Forgets all that was recorded.
pub(super) fn clear() {
    RECORDER.with(|recorder| *recorder.borrow_mut() = Recorder::default());
}

/// From now on this thread of shuttle runs.
pub(super) fn switch_to(thread: usize) {
    THREAD.set(thread);
}

/// The time, which must not depend on the computer: 2 ns for each access of the thread that has made
/// most of them. The cores make their accesses at the same time.
pub fn now_ns() -> u64 {
    2 * RECORDER.with(|recorder| recorder.borrow().most_accesses)
}

/// Begins to count. What lies in which cache is known already.
pub fn begin() {
    RECORDER.with(|recorder| recorder.borrow_mut().transfers.clear());
}

/// The transfers since [`begin`], by the place that asked.
pub fn end() -> HashMap<Place, u64> {
    RECORDER.with(|recorder| std::mem::take(&mut recorder.borrow_mut().transfers))
}

/// Touches the lines of that memory.
#[track_caller]
pub(super) fn touch(start: usize, bytes: usize, access: Access) {
    touch_at(Location::caller(), start, bytes, access);
}

/// The same for an access that belongs to another place.
pub(super) fn touch_at(place: Place, start: usize, bytes: usize, access: Access) {
    RECORDER.with(|recorder| {
        let recorder = &mut *recorder.borrow_mut();
        let accesses = recorder.accesses.entry(THREAD.get()).or_default();
        *accesses += 1;
        recorder.most_accesses = recorder.most_accesses.max(*accesses);
        for line in lines(start, bytes) {
            if recorder.caches.access(line, THREAD.get(), access) {
                *recorder.transfers.entry(place).or_default() += 1;
            }
        }
    });
}

/// The running thread has got that memory from the heap, and fills it. The recorder's own memory is
/// left out.
pub(super) fn fill(start: usize, bytes: usize) {
    let _ = RECORDER.try_with(|recorder| {
        if let Ok(mut recorder) = recorder.try_borrow_mut() {
            lines(start, bytes).for_each(|line| recorder.caches.fill(line, THREAD.get()));
        }
    });
}

fn lines(start: usize, bytes: usize) -> impl Iterator<Item = usize> {
    start / LINE..(start + bytes).div_ceil(LINE)
}
