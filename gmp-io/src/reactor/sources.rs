//! Finds the source that a token of the kernel stands for.
//!
//! Between the kernel's report of an event and its delivery the descriptor may be closed and its
//! entry reused. So a token is an index *and* a generation, and two users of an entry have
//! different generations: **an event of a removed source never reaches the next one**. (Go guards
//! its pollDesc the same way, with `fdseq`.)
//!
//! In the opposite direction, a late deregistration must not hit the next user of a descriptor
//! *number*. Another library may close a descriptor first and drop its registration second. By then
//! the number may be in use again and registered by another owner, and the kernel knows descriptors
//! only by number. So `numbers` records which registration a number belongs to.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::task::Waker;
use std::{io, mem};

use gmp_exec::netpoll::NetpollCounts;
use mio::{Events, Token};
use slab::Slab;

use super::registration::shutdown_error;
use super::signals::{SIGNALS, Signals};
use super::source::Source;
use crate::io::Ready;

/// All registered sources.
#[derive(Debug, Default)]
pub(super) struct Sources {
    entries: Slab<Entry>,
    /// The newest registration of each descriptor number.
    numbers: HashMap<RawFd, Token>,
    /// How many registrations there have been: the generation of the newest.
    generation: usize,
    closed: bool,
    counts: NetpollCounts,
}

/// A source that was added.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) token: Token,
    pub(super) source: Arc<Source>,
    /// What the number belonged to before.
    former: Option<Token>,
}

#[derive(Debug)]
struct Entry {
    token: Token,
    source: Arc<Source>,
}

/// The low bits of a token are the index, the rest is the generation. There are more indices than a
/// process can have descriptors. For a token to repeat, the generation would have to wrap around
/// (2^28 registrations, 2^12 on 32-bit systems) within one batch of events.
const INDEX_BITS: u32 = usize::BITS / 2 + 4;
const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;

impl Sources {
    /// Adds a source. The caller then registers `fd` with the system, and takes the addition
    /// [back](Self::take_back) if the system refuses.
    pub(super) fn add(&mut self, fd: RawFd) -> io::Result<Added> {
        if self.closed {
            return Err(shutdown_error());
        }
        self.generation = self.generation.wrapping_add(1);
        let vacant = self.entries.vacant_entry();
        let token = Token(vacant.key() | self.generation << INDEX_BITS);
        let source = Arc::<Source>::default();
        vacant.insert(Entry { token, source: source.clone() });
        let former = self.numbers.insert(fd, token);
        self.counts.registered += 1;
        Ok(Added { token, source, former })
    }

    /// The system has refused: the number may belong to a source that is already registered, and
    /// belongs to that source again. If that source has been removed meanwhile, its removal is
    /// finished here with `deregister`.
    pub(super) fn take_back(&mut self, added: &Added, fd: RawFd, deregister: impl FnOnce() -> io::Result<()>) {
        if self.get(added.token).is_none() {
            return;
        }
        self.entries.remove(added.token.0 & INDEX_MASK);
        self.counts.registered -= 1;
        if self.numbers.get(&fd) != Some(&added.token) {
            return;
        }
        self.numbers.remove(&fd);
        match added.former {
            Some(former) if self.get(former).is_some() => _ = self.numbers.insert(fd, former),
            // Nobody can be told of an error: the removal has returned.
            Some(_) => _ = deregister(),
            None => {}
        }
    }

    /// Removes a source. `deregister` is called if the number still belongs to this source. Does
    /// nothing if the source was removed before, or if the reactor has been shut down.
    pub(super) fn remove(
        &mut self,
        token: Token,
        fd: RawFd,
        deregister: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if self.get(token).is_none() {
            return Ok(());
        }
        self.entries.remove(token.0 & INDEX_MASK);
        self.counts.deregistered += 1;
        if self.numbers.get(&fd) != Some(&token) {
            return Ok(());
        }
        self.numbers.remove(&fd);
        deregister()
    }

    /// Marks the sources of the events as ready and collects the wakers of the tasks that wait.
    /// Runs no user code, so it may be called under the lock.
    pub(super) fn deliver(&mut self, events: &Events, woken: &mut Vec<Waker>) -> Signals {
        let (mut signals, mut ready) = (Signals::None, 0);
        for event in events {
            match self.get(event.token()) {
                Some(source) => {
                    source.set_ready(Ready::from_mio(event), woken);
                    ready += 1;
                }
                None if event.token() == SIGNALS => signals = Signals::Came,
                None => {}
            }
        }
        self.counts.ready += ready;
        signals
    }

    /// Refuses new sources from now on, and removes and returns all present ones.
    pub(super) fn close(&mut self) -> Vec<Arc<Source>> {
        self.closed = true;
        self.counts.deregistered += self.entries.len() as u64;
        self.numbers = HashMap::new();
        mem::take(&mut self.entries).into_iter().map(|(_, entry)| entry.source).collect()
    }

    pub(super) fn counts(&self) -> NetpollCounts {
        self.counts
    }

    fn get(&self, token: Token) -> Option<&Source> {
        let entry = self.entries.get(token.0 & INDEX_MASK)?;
        (entry.token == token).then_some(&entry.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FD: RawFd = 3;

    fn insert(sources: &mut Sources) -> Token {
        sources.add(FD).expect("open").token
    }

    /// Whether `remove` told the system.
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
    fn a_reused_entry_has_another_token() {
        let mut sources = Sources::default();
        let first = insert(&mut sources);
        assert!(remove(&mut sources, first));
        let second = insert(&mut sources);
        assert_eq!(first.0 & INDEX_MASK, second.0 & INDEX_MASK, "the entry is reused");
        assert_ne!(first, second);
        assert!(sources.get(first).is_none(), "the old token finds no source");
        assert!(!remove(&mut sources, first), "and removes none");
        assert!(sources.get(second).is_some());
    }

    #[test]
    fn a_reused_number_is_not_deregistered_by_its_former_owner() {
        let mut sources = Sources::default();
        let (first, second) = (insert(&mut sources), insert(&mut sources));
        assert!(!remove(&mut sources, first));
        assert!(sources.get(first).is_none(), "the source is gone nevertheless");
        assert!(remove(&mut sources, second));
    }

    #[test]
    fn a_registration_that_the_system_refuses_changes_nothing() {
        let mut sources = Sources::default();
        let first = insert(&mut sources);
        let refused = sources.add(FD).expect("open");
        sources.take_back(&refused, FD, || panic!("the number is the first one's"));
        assert_eq!(sources.entries.len(), 1);
        assert_eq!(sources.counts.registered, 1);
        assert!(remove(&mut sources, first), "the number is still the first one's");
    }

    #[test]
    fn a_removal_during_a_registration_that_the_system_refuses_reaches_the_system() {
        let mut sources = Sources::default();
        let first = insert(&mut sources);
        let refused = sources.add(FD).expect("open");
        assert!(!remove(&mut sources, first), "the number may be the second one's by now");
        let mut told = false;
        let tell = || {
            told = true;
            Ok(())
        };
        sources.take_back(&refused, FD, tell);
        assert!(told);
        assert!(sources.entries.is_empty() && sources.numbers.is_empty());
    }

    #[test]
    fn nothing_is_taken_back_after_close() {
        let mut sources = Sources::default();
        let added = sources.add(FD).expect("open");
        sources.close();
        sources.take_back(&added, FD, || panic!("the reactor has ended"));
        assert_eq!((sources.counts.registered, sources.counts.deregistered), (1, 1));
    }

    #[test]
    fn after_close_no_source_is_added() {
        let mut sources = Sources::default();
        insert(&mut sources);
        assert_eq!(sources.close().len(), 1);
        assert_eq!(sources.add(FD).expect_err("closed").kind(), io::ErrorKind::Other);
    }
}
