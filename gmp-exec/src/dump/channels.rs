//! Channels of tokio's that hold many messages, by the places where they were created.
//!
//! A sender looks at the length of its channel when tokio allocates another block of messages for it: a
//! channel that stays short costs nothing. A channel that holds [`MANY`] is listed from then on. The dump
//! reads the lengths under the lock under which the end of a channel removes its entry: no channel ends
//! while it is read. The end sees every listing: it comes after the drop of all senders and of the receiver,
//! which their reference count orders before it.
#![allow(unsafe_code, reason = "reads channels that can't end meanwhile")]

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::groups::Count;
use super::info::{Short, known};
use super::json::Quoted;

/// A channel with fewer messages is not told. Two of tokio's blocks.
pub const MANY: usize = 64;

/// The listed channels, by their addresses.
static LISTED: Mutex<BTreeMap<usize, Listed>> = Mutex::new(BTreeMap::new());

/// What a channel of tokio's says of itself.
#[derive(Clone, Copy, Debug)]
pub struct ChannelState {
    /// Messages, and permits to send one.
    pub messages: usize,
    /// `None`: there is no limit.
    pub capacity: Option<usize>,
    /// The senders that are alive.
    pub senders: usize,
}

struct Listed {
    created: &'static Location<'static>,
    channel: *const (),
    look: unsafe fn(*const ()) -> ChannelState,
}

// SAFETY: the pointer is passed to `look` and used for nothing else, and `ChannelEntry::list` asks that any
// thread may do so.
unsafe impl Send for Listed {}

/// The part of a channel by which it is listed: its address, once it is.
#[derive(Debug, Default)]
pub struct ChannelEntry(AtomicUsize);

impl ChannelEntry {
    /// The channel holds many messages.
    ///
    /// # Safety
    ///
    /// Any thread may call `look` with `channel` until the entry is dropped.
    #[cold]
    pub unsafe fn list(
        &self,
        created: &'static Location<'static>,
        channel: *const (),
        look: unsafe fn(*const ()) -> ChannelState,
    ) {
        let address = channel.addr();
        if self.0.swap(address, Relaxed) == 0 {
            lock().insert(address, Listed { created, channel, look });
        }
    }
}

impl Drop for ChannelEntry {
    #[inline]
    fn drop(&mut self) {
        let address = *self.0.get_mut();
        if address != 0 {
            remove(address);
        }
    }
}

#[cold]
fn remove(address: usize) {
    lock().remove(&address);
}

fn lock() -> MutexGuard<'static, BTreeMap<usize, Listed>> {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Channels that were created at one place with the same capacity.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channels {
    created: Option<&'static Location<'static>>,
    capacity: Option<usize>,
    channels: usize,
    messages: usize,
    senders: usize,
    /// The most messages of one channel.
    longest: usize,
}

/// The channels that hold many messages now, those with the most first.
pub(super) fn long_channels() -> Vec<Channels> {
    let mut groups: BTreeMap<_, Channels> = BTreeMap::new();
    for Listed { created, channel, look } in lock().values() {
        // SAFETY: as `ChannelEntry::list` asks. The entry's drop waits for the lock.
        let state = unsafe { look(*channel) };
        if state.messages >= MANY {
            groups.entry((*created, state.capacity)).or_default().add(created, state);
        }
    }
    let mut groups: Vec<Channels> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.messages));
    groups
}

impl Channels {
    fn add(&mut self, created: &'static Location<'static>, state: ChannelState) {
        *self = Channels {
            created: known(created),
            capacity: state.capacity,
            channels: self.channels + 1,
            messages: self.messages + state.messages,
            senders: self.senders + state.senders,
            longest: self.longest.max(state.messages),
        };
    }

    /// As an object of JSON.
    pub(super) fn json(&self) -> String {
        let Channels { channels, messages, senders, .. } = self;
        let place = self.created.map_or_else(String::new, |place| format!("{}", Short(place)));
        let capacity = self.capacity.map_or_else(String::new, |capacity| format!(r#","capacity":{capacity}"#));
        let counts = format!(r#""channels":{channels},"messages":{messages},"senders":{senders}{capacity}"#);
        format!(r#"{{{counts},"created":{}}}"#, Quoted(&place))
    }
}

impl fmt::Display for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages in ", self.messages)?;
        match (self.channels, self.capacity) {
            (1, None) => f.write_str("an unbounded mpsc channel")?,
            (1, Some(capacity)) => write!(f, "an mpsc channel (capacity {capacity})")?,
            (count, None) => write!(f, "{count} unbounded mpsc channels")?,
            (count, Some(capacity)) => write!(f, "{count} mpsc channels (capacity {capacity})")?,
        }
        self.created.map_or(Ok(()), |place| write!(f, " created at {}", Short(place)))?;
        write!(f, ", {}", Count(self.senders, "sender"))?;
        if self.channels > 1 {
            write!(f, ", {} in the longest", self.longest)?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::ptr;

    use super::*;

    fn told_of(line: u32) -> Vec<String> {
        let here = long_channels().into_iter().filter(|group| group.created.is_some_and(|place| place.line() == line));
        here.map(|group| group.to_string().replace(&*Short(group.created.unwrap()).to_string(), "HERE")).collect()
    }

    #[test]
    fn channels_are_told_by_their_place_while_they_hold_many_messages() {
        unsafe fn look(length: *const ()) -> ChannelState {
            // SAFETY: the test passes these.
            let messages = unsafe { &*length.cast::<AtomicUsize>() }.load(Relaxed);
            ChannelState { messages, capacity: None, senders: 2 }
        }
        let (created, lengths) = (Location::caller(), [100, 300].map(AtomicUsize::new));
        let entries = [(); 2].map(|()| ChannelEntry::default());
        for (entry, length) in entries.iter().zip(&lengths) {
            // SAFETY: the entries are dropped before the lengths.
            (0..2).for_each(|_| unsafe { entry.list(created, ptr::from_ref(length).cast(), look) });
        }
        let line = created.line();
        assert_eq!(
            told_of(line),
            ["400 messages in 2 unbounded mpsc channels created at HERE, 4 senders, 300 in the longest"]
        );
        lengths[0].store(MANY - 1, Relaxed);
        assert_eq!(told_of(line), ["300 messages in an unbounded mpsc channel created at HERE, 2 senders"]);
        drop(entries);
        assert_eq!(told_of(line), [""; 0]);
    }

    #[test]
    fn a_channel_with_a_capacity_says_it() {
        let group = Channels { capacity: Some(1000), channels: 1, messages: 900, senders: 1, ..Channels::default() };
        assert_eq!(group.to_string(), "900 messages in an mpsc channel (capacity 1000), 1 sender");
        let json = r#"{"channels":1,"messages":900,"senders":1,"capacity":1000,"created":""}"#;
        assert_eq!(group.json(), json);
    }
}
