//! The events of one machine: a ring that its thread overwrites again and again, and that any other
//! thread copies without stopping it.
//!
//! Event `i` is in slot `i % capacity`, in two words. `head` counts the events.
//!
//! | writer of event `i` | reader |
//! |---|---|
//! | W1 store both words (Release) | R1 `first = head` (Acquire) |
//! | W2 `head = i + 1` (Release) | R2 copy the slots of the last `capacity` events before `first` |
//! | | R3 fence (Acquire); `second = head` |
//! | | R4 keep event `j` if `second < j + capacity` |
//!
//! *Claim: each event that is kept is whole, and is event `j`.* R1 reads what the W2 of event `j`
//! or of a later one has stored, so R2 finds the words of event `j` or later ones. The next event
//! in that slot is `k = j + capacity`. If R2 finds a word of `k`, or of an event after it, the
//! stores of W1 and the fence of R3 make what its writer did before visible to R3: `head = k`. So
//! `second >= k`, and R4 drops the event. *With relaxed stores in W1*, R3 may find an older `head`
//! beside a new word. *With `<=` in R4*, the words may be those of event `k`, which is being
//! written: `head` becomes `k + 1` only afterwards. *Without R3's own look at `head`*, nothing says
//! what was overwritten meanwhile.
//!
//! The writer neither waits nor makes a read-modify-write. The reader loses the oldest event even
//! if the writer does nothing: it can't know that.
//!
//! Slots are allocated in chunks, each when it is written for the first time: a thread that rarely
//! does something needs little memory.

use std::sync::OnceLock;

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU64, fence};

/// The words of an event.
pub(super) type Words = [u64; 2];

/// Bytes of an event.
pub(super) const EVENT_SIZE: usize = size_of::<Words>();

/// Events in a chunk: 16 KiB.
const CHUNK: usize = 1024;

type Slot = [AtomicU64; 2];

#[derive(Debug)]
pub(super) struct Ring {
    chunks: Box<[OnceLock<Box<[Slot]>>]>,
    chunk: usize,
    capacity: u64,
    /// How many events were written. Stored by the writer alone.
    head: AtomicU64,
}

/// What a reader has found.
#[derive(Debug)]
pub(super) struct Copied {
    /// The latest events, in order.
    pub(super) events: Vec<Words>,
    /// How many came before those.
    pub(super) overwritten: u64,
}

impl Ring {
    /// Room for at least so many events.
    pub(super) fn new(events: usize) -> Ring {
        let chunk = events.clamp(1, CHUNK);
        let chunks = events.div_ceil(chunk).max(1);
        Ring {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            chunk,
            capacity: (chunks * chunk) as u64,
            head: AtomicU64::new(0),
        }
    }

    /// Called by one thread at a time.
    #[inline]
    pub(super) fn push(&self, event: Words) {
        let index = self.head.load(Relaxed);
        let place = (index % self.capacity) as usize;
        let chunk = self.chunks[place / self.chunk].get_or_init(|| self.new_chunk());
        let slot = &chunk[place % self.chunk];
        slot[0].store(event[0], Release); // W1
        slot[1].store(event[1], Release);
        self.head.store(index + 1, Release); // W2
    }

    #[cold]
    fn new_chunk(&self) -> Box<[Slot]> {
        (0..self.chunk).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect()
    }

    /// Copies the latest events. The writer goes on meanwhile.
    pub(super) fn copy(&self) -> Copied {
        let first = self.head.load(Acquire); // R1
        let oldest = first.saturating_sub(self.capacity);
        let mut events: Vec<Words> = (oldest..first).map(|index| self.read(index)).collect(); // R2
        fence(Acquire);
        let second = self.head.load(Relaxed); // R3
        let kept = (second + 1).saturating_sub(self.capacity).clamp(oldest, first); // R4
        events.drain(..(kept - oldest) as usize);
        Copied { events, overwritten: kept }
    }

    /// The words in the slot of an event that has been written.
    fn read(&self, index: u64) -> Words {
        let place = (index % self.capacity) as usize;
        let chunk = self.chunks[place / self.chunk].get().expect("R1 has seen the event, so its chunk is there");
        let slot = &chunk[place % self.chunk];
        [slot[0].load(Relaxed), slot[1].load(Relaxed)]
    }
}

#[cfg(all(test, loom))]
mod loom_ring {
    use loom::thread;

    use super::*;
    use crate::sched::tests::explore;
    use crate::sync::Arc;

    fn words(index: u64) -> Words {
        [index, !index]
    }

    /// A reader copies while the writer overwrites. Each event is whole, in its place, and none is
    /// missing between the first and the last.
    ///
    /// Seen to fail when either word is stored relaxed, without the fence of R3, when R3 takes
    /// `first` for `second`, and with `<=` in R4.
    #[test]
    fn loom_ring_has_no_torn_event() {
        explore(4, || {
            let ring = Arc::new(Ring::new(2));
            ring.push(words(0));
            ring.push(words(1));
            let writer = {
                let ring = ring.clone();
                thread::spawn(move || (2..5).for_each(|index| ring.push(words(index))))
            };
            let copied = ring.copy();
            for (index, event) in (copied.overwritten..).zip(&copied.events) {
                assert_eq!(*event, words(index));
            }
            assert!(copied.events.len() < 2);
            writer.join().unwrap();
            let last = ring.copy();
            assert_eq!((last.overwritten, last.events), (4, vec![words(4)]));
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    #[test]
    fn the_latest_events_stay() {
        let ring = Ring::new(4);
        assert_eq!(ring.copy().events, Vec::<Words>::new());
        (0..3).for_each(|index| ring.push([index, 0]));
        let copied = ring.copy();
        assert_eq!((copied.overwritten, copied.events), (0, vec![[0, 0], [1, 0], [2, 0]]));
        (3..10).for_each(|index| ring.push([index, 0]));
        let copied = ring.copy();
        assert_eq!((copied.overwritten, copied.events), (7, vec![[7, 0], [8, 0], [9, 0]]));
    }

    #[test]
    fn sizes_are_rounded_up_to_whole_chunks() {
        assert_eq!(Ring::new(0).capacity, 1);
        assert_eq!(Ring::new(CHUNK).capacity, 1024);
        assert_eq!(Ring::new(CHUNK + 1).capacity, 2048);
    }

    #[test]
    fn memory_is_allocated_when_it_is_written() {
        let ring = Ring::new(8 * CHUNK);
        let allocated = || ring.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        assert_eq!(allocated(), 0);
        (0..=CHUNK).for_each(|_| ring.push([0, 0]));
        assert_eq!(allocated(), 2);
    }

    #[test]
    fn a_reader_beside_a_busy_writer_finds_whole_events_in_order() {
        let (ring, is_over) = (Ring::new(64), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut index = 0;
                while !is_over.load(Relaxed) {
                    ring.push([index, !index]);
                    index += 1;
                }
            });
            let mut seen = 0;
            while seen < 10_000 {
                let copied = ring.copy();
                for (index, event) in (copied.overwritten..).zip(&copied.events) {
                    assert_eq!(*event, [index, !index]);
                }
                seen += copied.events.len();
            }
            is_over.store(true, Relaxed);
        });
    }
}
