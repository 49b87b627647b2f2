//! The readiness of a source, in one word.
//!
//! The kernel reports an edge once. A task that found `WouldBlock` clears the readiness that it
//! acted upon, and the next edge may arrive between its system call and the clearing. If the
//! clearing erased that edge, the task would wait without ever being woken. So each event
//! increments a tick in the same word, and **clearing with an outdated tick does nothing**.
//!
//! ```text
//! bits 0..8   readiness, as in `Ready`
//! bit  8      the reactor has been shut down; never cleared
//! bits 9..    tick: how many events there have been (wraps around)
//! ```

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use crate::io::Ready;

/// The word. The reactor writes it (events), tasks write (clear) and read it.
#[derive(Debug, Default)]
pub(super) struct Readiness(AtomicUsize);

const SHUTDOWN: usize = 1 << 8;
const ONE_TICK: usize = 1 << 9;

/// What a task saw when it looked. `clear` needs it as evidence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadyEvent {
    /// The flags that were set, of those asked for.
    pub(crate) ready: Ready,
    tick: usize,
    shutdown: bool,
}

impl ReadyEvent {
    pub(crate) fn is_shutdown(self) -> bool {
        self.shutdown
    }

    /// The same, as if only the flags in `mask` had been asked for.
    pub(crate) fn masked(self, mask: Ready) -> Self {
        ReadyEvent { ready: self.ready & mask, ..self }
    }

    /// Whether there is a reason not to wait.
    pub(super) fn ends_wait(self) -> bool {
        self.shutdown || !self.ready.is_empty()
    }
}

impl Readiness {
    /// The current readiness, restricted to the flags in `mask`.
    pub(super) fn look(&self, mask: Ready) -> ReadyEvent {
        let word = self.0.load(Acquire);
        ReadyEvent { ready: Ready::from_bits(word) & mask, tick: word / ONE_TICK, shutdown: word & SHUTDOWN != 0 }
    }

    /// Records an event: adds flags, and makes every earlier look outdated.
    pub(super) fn set(&self, ready: Ready) {
        self.update(|word| Some(word.wrapping_add(ONE_TICK) | ready.bits()));
    }

    /// Adds flags without an event, as a guess. If the guess is wrong, one operation answers
    /// `WouldBlock`.
    pub(super) fn assume(&self, ready: Ready) {
        self.0.fetch_or(ready.bits(), AcqRel);
    }

    /// Clears the flags that `event` saw, unless a newer event has come. "Closed" stays: it is
    /// final, and the kernel won't report it again.
    pub(super) fn clear(&self, event: ReadyEvent) {
        self.clear_except(event, Ready::CLOSED);
    }

    /// As `clear`, but leaves the flags in `lasting` instead of "closed".
    pub(super) fn clear_except(&self, event: ReadyEvent, lasting: Ready) {
        let gone = event.ready - lasting;
        self.update(|word| (word / ONE_TICK == event.tick).then_some(word & !gone.bits()));
    }

    pub(super) fn shut_down(&self) {
        self.0.fetch_or(SHUTDOWN, AcqRel);
    }

    fn update(&self, next: impl Fn(usize) -> Option<usize>) {
        // An error means that `next` returned `None`.
        let _ = self.0.fetch_update(AcqRel, Acquire, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_takes_away_what_was_seen() {
        let readiness = Readiness::default();
        readiness.set(Ready::READABLE | Ready::WRITABLE);
        readiness.clear(readiness.look(Ready::READABLE));
        assert_eq!(readiness.look(Ready::ALL).ready, Ready::WRITABLE);
    }

    #[test]
    fn clearing_does_not_erase_a_newer_event() {
        let readiness = Readiness::default();
        readiness.set(Ready::READABLE);
        let seen = readiness.look(Ready::READABLE);
        readiness.set(Ready::READABLE);
        readiness.clear(seen);
        assert_eq!(readiness.look(Ready::READABLE).ready, Ready::READABLE);
    }

    #[test]
    fn closed_and_shutdown_are_final() {
        let readiness = Readiness::default();
        readiness.set(Ready::READABLE | Ready::READ_CLOSED);
        readiness.shut_down();
        readiness.clear(readiness.look(Ready::ALL));
        let event = readiness.look(Ready::ALL);
        assert_eq!(event.ready, Ready::READ_CLOSED);
        assert!(event.is_shutdown());
    }

    #[test]
    fn closed_is_cleared_of_a_source_that_can_reopen_unless_it_closed_again() {
        let readiness = Readiness::default();
        readiness.set(Ready::READ_CLOSED);
        readiness.clear_except(readiness.look(Ready::ALL), Ready::EMPTY);
        assert!(readiness.look(Ready::ALL).ready.is_empty());
        let outdated = readiness.look(Ready::ALL);
        readiness.set(Ready::READ_CLOSED);
        readiness.clear_except(outdated, Ready::EMPTY);
        assert_eq!(readiness.look(Ready::ALL).ready, Ready::READ_CLOSED);
    }

    #[test]
    fn one_direction_may_reopen_alone() {
        let readiness = Readiness::default();
        readiness.set(Ready::CLOSED | Ready::WRITABLE | Ready::ERROR);
        readiness.clear_except(readiness.look(Ready::ALL), Ready::READ_CLOSED);
        assert_eq!(readiness.look(Ready::ALL).ready, Ready::READ_CLOSED);
    }

    #[test]
    fn the_tick_wraps_around_without_touching_the_flags() {
        let readiness = Readiness(AtomicUsize::new(usize::MAX - (ONE_TICK - 1)));
        let seen = readiness.look(Ready::ALL);
        readiness.set(Ready::WRITABLE);
        assert_eq!(readiness.0.load(Acquire), Ready::WRITABLE.bits());
        readiness.clear(seen);
        assert_eq!(readiness.look(Ready::ALL).ready, Ready::WRITABLE);
    }

    #[test]
    fn a_guess_does_not_outdate_a_look() {
        let readiness = Readiness::default();
        let seen = ReadyEvent { ready: Ready::READABLE, ..readiness.look(Ready::ALL) };
        readiness.assume(Ready::READABLE);
        readiness.clear(seen);
        assert!(readiness.look(Ready::ALL).ready.is_empty());
    }
}
