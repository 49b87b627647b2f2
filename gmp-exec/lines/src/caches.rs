//! Which caches hold which lines: the coherence protocol, reduced to what a count of transfers
//! needs.
//!
//! Every thread has a core and a cache of its own, as large as it needs. A read needs a copy of the
//! line; it is a *transfer* if the own cache has none. A write (or an atomic read-modify-write, or
//! one that fails) needs the only copy; it is a transfer if any other cache has one, too. So the
//! states of MESI follow from the set of holders: one holder is M or E, several are S, and M and E
//! need not be told apart, since both answer the next access of their own core without asking.
//!
//! Memory that was never touched is in no cache, and its first access asks no other core.

use std::collections::HashMap;

/// Bytes of a line on x86-64 and most of Arm's cores.
pub(super) const LINE: usize = 64;

const THREADS: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

#[derive(Debug, Default)]
pub(super) struct Caches {
    holders: HashMap<usize, Holders>,
}

impl Caches {
    /// A thread touches a line. Returns whether another core must be asked.
    pub(super) fn access(&mut self, line: usize, thread: usize, access: Access) -> bool {
        let Some(holders) = self.holders.get_mut(&line) else {
            self.fill(line, thread);
            return false;
        };
        match access {
            Access::Read => holders.add(thread),
            Access::Write => holders.leave_only(thread),
        }
    }

    /// A thread has written the line for the first time since the memory was allocated.
    pub(super) fn fill(&mut self, line: usize, thread: usize) {
        self.holders.insert(line, Holders::only(thread));
    }
}

/// A set of threads.
#[derive(Debug, PartialEq, Eq)]
struct Holders([u64; THREADS / 64]);

impl Holders {
    fn only(thread: usize) -> Holders {
        let mut holders = Holders([0; THREADS / 64]);
        holders.add(thread);
        holders
    }

    /// Returns whether the thread was missing.
    fn add(&mut self, thread: usize) -> bool {
        let (word, bit) = (&mut self.0[thread / 64], 1 << (thread % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Returns whether that changed anything.
    fn leave_only(&mut self, thread: usize) -> bool {
        let only = Holders::only(thread);
        let is_new = *self != only;
        *self = only;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::Access::*;
    use super::*;

    fn transfers(accesses: &[(usize, Access)]) -> Vec<bool> {
        let mut caches = Caches::default();
        accesses.iter().map(|&(thread, access)| caches.access(7, thread, access)).collect()
    }

    #[test]
    fn lines_of_one_thread_cost_nothing() {
        assert_eq!(transfers(&[(1, Read), (1, Write), (1, Read), (1, Write)]), [false; 4]);
    }

    #[test]
    fn lines_that_are_only_read_come_once_to_each_thread() {
        let reads = [(1, Read), (2, Read), (3, Read), (1, Read), (2, Read), (3, Read)];
        assert_eq!(transfers(&reads), [false, true, true, false, false, false]);
    }

    #[test]
    fn lines_that_two_threads_write_come_each_time() {
        assert_eq!(transfers(&[(1, Write), (2, Write), (1, Write), (2, Write)]), [false, true, true, true]);
    }

    #[test]
    fn lines_with_other_holders_must_be_asked_for_before_a_write() {
        let upgrade = [(1, Write), (2, Read), (2, Write), (2, Write), (1, Read)];
        assert_eq!(transfers(&upgrade), [false, true, true, false, true]);
    }

    #[test]
    fn lines_of_new_memory_belong_to_the_thread_that_filled_it() {
        let mut caches = Caches::default();
        caches.fill(7, 1);
        assert!(!caches.access(7, 1, Write));
        assert!(caches.access(7, 900, Read));
        caches.fill(7, 2);
        assert!(!caches.access(7, 2, Write));
    }
}
