//! Values whose end is counted, and may be a panic.

use std::panic::resume_unwind;
use std::thread;

use super::tally::{Kind, Mark, Tally};
use crate::support::Random;

/// In whose drop a panic begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Panics {
    Never,
    /// In the value's.
    Once,
    /// In the value's and then in the payload's.
    Twice,
}

impl Panics {
    pub(super) fn once_or_twice(random: &mut Random) -> Panics {
        if random.below(2) == 0 { Panics::Once } else { Panics::Twice }
    }

    fn of_payload(self) -> Panics {
        if self == Panics::Twice { Panics::Once } else { Panics::Never }
    }
}

/// A part of each future and of each closure, and all of an output and of a panic's payload.
pub(super) struct Marked {
    mark: Mark,
    /// The number of the future or the closure that this came from.
    of: usize,
    panics: Panics,
}

impl Marked {
    /// The mark of a future or of a closure.
    pub(super) fn new(tally: &'static Tally, kind: Kind, panics: Panics) -> Marked {
        let mark = tally.mark(kind);
        Marked { of: mark.number(), mark, panics }
    }

    pub(super) fn tally(&self) -> &'static Tally {
        self.mark.tally()
    }

    pub(super) fn of(&self) -> usize {
        self.of
    }

    /// The mark of a closure that does not panic.
    pub(super) fn closure(tally: &'static Tally) -> Marked {
        Marked::new(tally, Kind::Closure, Panics::Never)
    }

    /// What the future or the closure with this number returns.
    pub(super) fn output(tally: &'static Tally, of: usize, panics: Panics) -> Marked {
        Marked { mark: tally.mark(Kind::Output), of, panics }
    }

    /// As if the executor had copied the value's memory.
    pub(super) fn copied(&self) -> Marked {
        Marked { mark: self.mark.copied(), ..*self }
    }

    /// Takes the value out of circulation. Returns where it came from.
    pub(super) fn receive(mut self) -> usize {
        self.mark.receive();
        self.panics = Panics::Never;
        self.of
    }
}

/// Panics without a call of the panic hook, which would print thousands of lines. If `panics` says
/// so, the drop of the payload panics, too.
pub(super) fn panic_with_payload(tally: &'static Tally, of: usize, panics: Panics) -> ! {
    resume_unwind(Box::new(Marked { mark: tally.mark(Kind::Payload), of, panics: panics.of_payload() }))
}

impl Drop for Marked {
    fn drop(&mut self) {
        if self.panics == Panics::Never || thread::panicking() {
            return;
        }
        match self.mark.kind() {
            // The executor leaks the payload of such a panic, since its drop might panic again.
            Kind::Payload => resume_unwind(Box::new("in the drop of a payload")),
            _ => panic_with_payload(self.mark.tally(), self.of, self.panics),
        }
    }
}
