//! From the kernel's token to the source it stands for.
//!
//! Between the kernel's report of an event and its delivery the descriptor may be closed and its slot given to another. So
//! a token is a slot *and* a generation, and the generations of two users of a slot differ: **an event of a removed source
//! never reaches the next one**. (Go guards its pollDesc the same way, with `fdseq`.)
//!
//! The other way round a late deregistration must not hit the next user of a descriptor's *number*. A foreign library may
//! close a descriptor first and say so second; the number may then be in use again, registered by somebody else, and the
//! kernel knows descriptors only by number. So it is remembered which registration a number belongs to.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::task::Waker;
use std::{io, mem};

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
    /// The newest registration of each descriptor number.
    numbers: HashMap<RawFd, Token>,
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
    /// Makes room for one more, which `register` tells the system about. Nothing changes if the system refuses: then the
    /// number may well belong to somebody who is registered already.
    pub(super) fn insert(
        &mut self,
        fd: RawFd,
        register: impl FnOnce(Token) -> io::Result<()>,
    ) -> io::Result<(Token, Arc<Source>)> {
        if self.closed {
            return Err(shutdown_error());
        }
        self.generation = self.generation.wrapping_add(1);
        let vacant = self.slots.vacant_entry();
        let token = Token(vacant.key() | self.generation << SLOT_BITS);
        register(token)?;
        let source = Arc::<Source>::default();
        vacant.insert(Slot { token, source: source.clone() });
        self.numbers.insert(fd, token);
        Ok((token, source))
    }

    /// Takes a source out, which `deregister` tells the system if the number is still this source's. Does nothing if the
    /// source isn't there: it was removed before, or the reactor has been shut down.
    pub(super) fn remove(
        &mut self,
        token: Token,
        fd: RawFd,
        deregister: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if self.get(token).is_none() {
            return Ok(());
        }
        self.slots.remove(token.0 & SLOT_MASK);
        if self.numbers.get(&fd) != Some(&token) {
            return Ok(());
        }
        self.numbers.remove(&fd);
        deregister()
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
        self.numbers = HashMap::new();
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

    const FD: RawFd = 3;

    fn insert(sources: &mut Sources) -> Token {
        sources.insert(FD, |_| Ok(())).expect("open").0
    }

    /// Whether the system was told.
    fn remove(sources: &mut Sources, token: Token) -> bool {
        let mut told = false;
        let tell = || {
            told = true;
            Ok(())
        };
        sources.remove(token, FD, tell).expect("removed");
        told
    }

    #[test]
    fn a_reused_slot_has_another_token() {
        let mut sources = Sources::default();
        let first = insert(&mut sources);
        assert!(remove(&mut sources, first));
        let second = insert(&mut sources);
        assert_eq!(first.0 & SLOT_MASK, second.0 & SLOT_MASK, "the slot is reused");
        assert_ne!(first, second);
        assert!(sources.get(first).is_none(), "the old token finds nobody");
        assert!(!remove(&mut sources, first), "and removes nobody");
        assert!(sources.get(second).is_some());
    }

    #[test]
    fn a_number_that_has_changed_hands_is_not_deregistered_by_its_former_owner() {
        let mut sources = Sources::default();
        let (first, second) = (insert(&mut sources), insert(&mut sources));
        assert!(!remove(&mut sources, first));
        assert!(sources.get(first).is_none(), "it is gone nevertheless");
        assert!(remove(&mut sources, second));
    }

    #[test]
    fn a_registration_that_the_system_refuses_changes_nothing() {
        let mut sources = Sources::default();
        let first = insert(&mut sources);
        let refused = sources.insert(FD, |_| Err(io::ErrorKind::AlreadyExists.into()));
        assert_eq!(refused.expect_err("refused").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(sources.slots.len(), 1);
        assert!(remove(&mut sources, first), "the number is still the first one's");
    }

    #[test]
    fn a_closed_set_takes_nothing_in() {
        let mut sources = Sources::default();
        insert(&mut sources);
        assert_eq!(sources.close().len(), 1);
        assert_eq!(sources.insert(FD, |_| Ok(())).expect_err("closed").kind(), io::ErrorKind::Other);
    }
}
