//! From the kernel's token to the source it stands for.
//!
//! Between the kernel's report of an event and its delivery the descriptor may be closed and its slot given to another. So
//! a token is a slot *and* a generation, and the generations of two users of a slot differ: **an event of a removed source
//! never reaches the next one**. (Go guards its pollDesc the same way, with `fdseq`.)

use std::io;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

use mio::{Events, Token};
use slab::Slab;

use super::registration::shutdown_error;
use super::signals::SIGNALS;
use super::source::Source;
use crate::io::Ready;

/// Every registered source, by slot.
#[derive(Debug, Default)]
pub(super) struct Sources {
    slots: Slab<Slot>,
    /// How many registrations there have been; the newest one's generation.
    generation: usize,
    closed: bool,
}

#[derive(Debug)]
struct Slot {
    token: Token,
    source: Arc<Source>,
}

/// The low bits of a token are the slot, the rest is the generation. More slots than a process can have descriptors; the
/// generation would have to wrap around (2^28 registrations, 2^12 on 32-bit systems) within one batch of events to repeat.
const SLOT_BITS: u32 = usize::BITS / 2 + 4;
const SLOT_MASK: usize = (1 << SLOT_BITS) - 1;

impl Sources {
    /// Makes room for one more.
    pub(super) fn insert(&mut self) -> io::Result<(Token, Arc<Source>)> {
        if self.closed {
            return Err(shutdown_error());
        }
        self.generation = self.generation.wrapping_add(1);
        let vacant = self.slots.vacant_entry();
        let token = Token(vacant.key() | self.generation << SLOT_BITS);
        let source = Arc::<Source>::default();
        vacant.insert(Slot { token, source: source.clone() });
        Ok((token, source))
    }

    /// Takes a source out. `None` if it isn't there: it was removed before, or the reactor has been shut down.
    pub(super) fn remove(&mut self, token: Token) -> Option<Arc<Source>> {
        self.get(token)?;
        Some(self.slots.remove(token.0 & SLOT_MASK).source)
    }

    /// Marks the sources that the events are for and collects the wakers of those who wait, and says whether signals were
    /// among the events. Runs no user code, so it may be called under the lock.
    pub(super) fn deliver(&self, events: &Events, woken: &mut Vec<Waker>) -> bool {
        let mut signalled = false;
        for event in events {
            match self.get(event.token()) {
                Some(source) => source.set_ready(Ready::from_mio(event), woken),
                None => signalled |= event.token() == SIGNALS,
            }
        }
        signalled
    }

    /// Refuses new sources and gives up the ones there are.
    pub(super) fn close(&mut self) -> Vec<Arc<Source>> {
        self.closed = true;
        mem::take(&mut self.slots).into_iter().map(|(_, slot)| slot.source).collect()
    }

    fn get(&self, token: Token) -> Option<&Source> {
        let slot = self.slots.get(token.0 & SLOT_MASK)?;
        (slot.token == token).then_some(&slot.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_slot_has_another_token() {
        let mut sources = Sources::default();
        let (first, _) = sources.insert().expect("open");
        assert!(sources.remove(first).is_some());
        let (second, _) = sources.insert().expect("open");
        assert_eq!(first.0 & SLOT_MASK, second.0 & SLOT_MASK, "the slot is reused");
        assert_ne!(first, second);
        assert!(sources.get(first).is_none(), "the old token finds nobody");
        assert!(sources.remove(first).is_none(), "and removes nobody");
        assert!(sources.get(second).is_some());
    }

    #[test]
    fn a_closed_set_takes_nothing_in() {
        let mut sources = Sources::default();
        sources.insert().expect("open");
        assert_eq!(sources.close().len(), 1);
        assert_eq!(sources.insert().expect_err("closed").kind(), io::ErrorKind::Other);
    }
}
