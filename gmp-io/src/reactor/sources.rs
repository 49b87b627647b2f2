//! Finds the source that a token of the kernel stands for.
//!
//! Between the kernel's report of an event and its delivery the descriptor may be closed and its
//! entry reused. So a token is an index *and* a generation, and two users of an entry have
//! different generations: **an event of a removed source never reaches the next one**. (Go guards
//! its pollDesc the same way, with `fdseq`.)

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
    /// How many registrations there have been: the generation of the newest.
    generation: usize,
    closed: bool,
    counts: NetpollCounts,
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
    /// Adds a source, before the system is asked to register it.
    pub(super) fn add(&mut self) -> io::Result<(Token, Arc<Source>)> {
        if self.closed {
            return Err(shutdown_error());
        }
        self.generation = self.generation.wrapping_add(1);
        let vacant = self.entries.vacant_entry();
        let token = Token(vacant.key() | self.generation << INDEX_BITS);
        let source = Arc::<Source>::default();
        vacant.insert(Entry { token, source: source.clone() });
        self.counts.registered += 1;
        Ok((token, source))
    }

    /// The system has refused the source, which is as if it had not been added.
    pub(super) fn take_back(&mut self, token: Token) {
        if self.remove(token) {
            self.counts.registered -= 1;
            self.counts.deregistered -= 1;
        }
    }

    /// Removes a source. `false`: the source was removed before, or the reactor has been shut down.
    pub(super) fn remove(&mut self, token: Token) -> bool {
        let is_there = self.get(token).is_some();
        if is_there {
            self.entries.remove(token.0 & INDEX_MASK);
            self.counts.deregistered += 1;
        }
        is_there
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

    fn add(sources: &mut Sources) -> Token {
        sources.add().expect("open").0
    }

    #[test]
    fn a_reused_entry_has_another_token() {
        let mut sources = Sources::default();
        let first = add(&mut sources);
        assert!(sources.remove(first));
        let second = add(&mut sources);
        assert_eq!(first.0 & INDEX_MASK, second.0 & INDEX_MASK, "the entry is reused");
        assert_ne!(first, second);
        assert!(sources.get(first).is_none(), "the old token finds no source");
        assert!(!sources.remove(first), "and removes none");
        assert!(sources.get(second).is_some());
    }

    #[test]
    fn a_source_that_the_system_refuses_changes_nothing() {
        let mut sources = Sources::default();
        add(&mut sources);
        let refused = add(&mut sources);
        sources.take_back(refused);
        assert_eq!(sources.entries.len(), 1);
        assert_eq!((sources.counts.registered, sources.counts.deregistered), (1, 0));
    }

    #[test]
    fn nothing_is_taken_back_after_close() {
        let mut sources = Sources::default();
        let added = add(&mut sources);
        sources.close();
        sources.take_back(added);
        assert_eq!((sources.counts.registered, sources.counts.deregistered), (1, 1));
    }

    #[test]
    fn after_close_no_source_is_added() {
        let mut sources = Sources::default();
        add(&mut sources);
        assert_eq!(sources.close().len(), 1);
        assert_eq!(sources.add().expect_err("closed").kind(), io::ErrorKind::Other);
    }
}
