//! Threads that wait: they are no candidates for the next step until another thread releases them.

use std::cell::RefCell;

use super::step;

thread_local! {
    static WAITING: RefCell<Waiting> = const { RefCell::new(Waiting { threads: Vec::new(), waits: Vec::new(), running: 0 }) };
}

struct Waiting {
    /// Thread, and the address that it waits on; the oldest first.
    threads: Vec<(usize, usize)>,
    /// Whether a thread is in `threads`.
    waits: Vec<bool>,
    running: usize,
}

/// From now on this thread of shuttle runs.
pub(super) fn switch_to(thread: usize) {
    WAITING.with(|waiting| waiting.borrow_mut().running = thread);
}

/// Calls `f` with the question whether a thread waits.
pub(super) fn ask<R>(f: impl FnOnce(&dyn Fn(usize) -> bool) -> R) -> R {
    WAITING.with(|waiting| {
        let waits = &waiting.borrow().waits;
        f(&|thread| waits.get(thread).is_some_and(|&waits| waits))
    })
}

/// Waits until [`release_one`] or [`release_all`] is called with this address.
pub(super) fn wait_on(address: usize) {
    WAITING.with(|waiting| waiting.borrow_mut().add(address));
    step();
}

/// Releases the thread that has waited longest.
pub(super) fn release_one(address: usize) {
    WAITING.with(|waiting| waiting.borrow_mut().remove_one(address));
}

pub(super) fn release_all(address: usize) {
    WAITING.with(|waiting| while waiting.borrow_mut().remove_one(address) {});
}

impl Waiting {
    fn add(&mut self, address: usize) {
        let thread = self.running;
        self.threads.push((thread, address));
        self.waits.resize(self.waits.len().max(thread + 1), false);
        self.waits[thread] = true;
    }

    fn remove_one(&mut self, address: usize) -> bool {
        let oldest = self.threads.iter().position(|&(_, waits_on)| waits_on == address);
        if let Some(oldest) = oldest {
            let (thread, _) = self.threads.remove(oldest);
            self.waits[thread] = false;
        }
        oldest.is_some()
    }
}
