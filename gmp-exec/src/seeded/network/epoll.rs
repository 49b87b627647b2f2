//! The simulated sockets of an epoll (README.md, "Readiness").

use std::collections::{BTreeMap, VecDeque};

use super::{Answer, Id, Kernel, Network};

/// The number that was added, and the socket behind it.
type Key = (i32, Id);

const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// The bits of an entry that are no events.
const MODES: u32 = (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLWAKEUP | libc::EPOLLEXCLUSIVE) as u32;

#[derive(Debug, Default)]
pub(super) struct Epoll {
    entries: BTreeMap<Key, Entry>,
    listed: VecDeque<Key>,
    added: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    events: u32,
    data: u64,
    /// Which entry of the epoll it is.
    added: u64,
    /// Switched off by `EPOLLONESHOT`.
    is_off: bool,
}

impl Epoll {
    pub(super) fn forget(&mut self, id: Id) {
        self.entries.retain(|key, _| key.1 != id);
        self.listed.retain(|key| key.1 != id);
    }

    pub(super) fn entries_of(&self, id: Id, epoll: i32) -> impl Iterator<Item = (i32, i32, libc::epoll_event)> {
        let entries = self.entries.iter().filter(move |(key, _)| key.1 == id);
        entries.map(move |(key, entry)| (epoll, key.0, libc::epoll_event { events: entry.events, u64: entry.data }))
    }

    pub(super) fn event(&mut self, id: Id, events: u32) {
        let asks = |entry: &Entry| !entry.is_off && (entry.events | ALWAYS) & events != 0;
        let entries = self.entries.iter().filter(|(key, entry)| key.1 == id && asks(entry));
        let mut keys: Vec<_> = entries.map(|(key, entry)| (entry.added, *key)).collect();
        // As in the kernel, the newest of several descriptors comes first.
        keys.sort_unstable();
        keys.into_iter().rev().for_each(|(_, key)| self.list(key));
    }

    fn list(&mut self, key: Key) {
        if !self.listed.contains(&key) {
            self.listed.push_back(key);
        }
    }
}

impl Network {
    pub(super) fn has_events(&self, epoll: &Epoll) -> bool {
        epoll.listed.iter().any(|key| self.ready_entry(epoll, *key) != 0)
    }

    fn ready_entry(&self, epoll: &Epoll, key: Key) -> u32 {
        let (Some(entry), Some(socket)) = (epoll.entries.get(&key), self.sockets.get(&key.1)) else { return 0 };
        if entry.is_off { 0 } else { socket.ready() & (entry.events & !MODES | ALWAYS) }
    }
}

impl Kernel<'_> {
    /// `epoll_ctl` with a simulated socket.
    pub(in crate::seeded) fn control(&mut self, epoll: i32, operation: i32, fd: i32, event: (u32, u64)) -> Answer<()> {
        let key = (fd, self.id(fd)?);
        let ready = self.net.sockets[&key.1].ready();
        let id = self.net.descriptors.get(&epoll);
        let epoll = id.and_then(|id| self.net.epolls.get_mut(id)).ok_or(libc::EINVAL)?;
        let exists = epoll.entries.contains_key(&key);
        match operation {
            libc::EPOLL_CTL_ADD if exists => return Err(libc::EEXIST),
            libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL if !exists => return Err(libc::ENOENT),
            libc::EPOLL_CTL_DEL => {
                epoll.entries.remove(&key);
                epoll.listed.retain(|other| *other != key);
            }
            libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD => {
                epoll.added += 1;
                let added = epoll.entries.get(&key).map_or(epoll.added, |entry| entry.added);
                epoll.entries.insert(key, Entry { events: event.0, data: event.1, added, is_off: false });
                if ready & (event.0 & !MODES | ALWAYS) != 0 {
                    epoll.list(key);
                }
            }
            _ => return Err(libc::EINVAL),
        }
        Ok(())
    }

    /// At most so many events.
    pub(in crate::seeded) fn take_events(&mut self, epoll: i32, most: usize) -> Vec<libc::epoll_event> {
        let mut events = Vec::new();
        let Some(id) = self.net.descriptors.get(&epoll).copied() else { return events };
        let Some(mut epoll) = self.net.epolls.remove(&id) else { return events };
        for _ in 0..epoll.listed.len() {
            if events.len() == most {
                break;
            }
            let Some(key) = epoll.listed.pop_front() else { break };
            let ready = self.net.ready_entry(&epoll, key);
            let Some(entry) = epoll.entries.get_mut(&key).filter(|_| ready != 0) else { continue };
            events.push(libc::epoll_event { events: ready, u64: entry.data });
            if entry.events & libc::EPOLLONESHOT as u32 != 0 {
                entry.is_off = true;
            } else if entry.events & libc::EPOLLET as u32 == 0 {
                epoll.listed.push_back(key);
            }
        }
        self.net.epolls.insert(id, epoll);
        events
    }
}
