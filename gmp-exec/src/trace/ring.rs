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
//! Slots are allocated in chunks of a page, each when it is written for the first time: a thread
//! that rarely does something needs little memory. Four events fill a cache line. The writer keeps
//! the chunk that it writes, so only every 256th event looks for a slot.

use std::sync::OnceLock;

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU64, fence};
use crate::sync::{Apart, Arc};

/// The words of an event.
pub(super) type Words = [u64; 2];

/// Bytes of an event.
pub(super) const EVENT_SIZE: usize = size_of::<Words>();

/// Events in a chunk. A model can't have many.
const CHUNK: usize = if cfg!(loom) { 2 } else { 256 };

type Slot = [AtomicU64; 2];

/// Begins with a cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Chunk([Slot; CHUNK]);

#[derive(Debug)]
pub(super) struct Ring {
    chunks: Box<[OnceLock<Arc<Chunk>>]>,
    /// How many events were written. Stored by the writer alone.
    head: Apart<AtomicU64>,
}

/// The only writer of a ring.
#[derive(Debug)]
pub(super) struct RingWriter {
    ring: Arc<Ring>,
    /// The chunk of the next event, unless that is the first of another chunk.
    chunk: Arc<Chunk>,
    /// `head`, as the writer knows it.
    written: u64,
}

/// What a reader has found.
#[derive(Debug)]
pub(super) struct Copied {
    /// The latest events, in order.
    pub(super) events: Vec<Words>,
    /// How many came before those.
    pub(super) overwritten: u64,
}

impl RingWriter {
    /// The writer of a new ring with room for at least so many events.
    pub(super) fn new(events: usize) -> RingWriter {
        let chunks = events.div_ceil(CHUNK).max(1);
        let ring = Ring { chunks: (0..chunks).map(|_| OnceLock::new()).collect(), head: Apart::new(AtomicU64::new(0)) };
        let chunk = ring.chunk_for_writer(0);
        RingWriter { ring: Arc::new(ring), chunk, written: 0 }
    }

    /// A writer after another one, which is gone: the caller has synchronised with that.
    pub(super) fn go_on(ring: &Arc<Ring>) -> RingWriter {
        let written = ring.head.load(Relaxed);
        RingWriter { ring: ring.clone(), chunk: ring.chunk_for_writer(written), written }
    }

    pub(super) fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    #[inline]
    pub(super) fn push(&mut self, event: Words) {
        let place = self.written as usize % CHUNK;
        if place == 0 {
            self.next_chunk();
        }
        let slot = &self.chunk.0[place];
        slot[0].store(event[0], Release); // W1
        slot[1].store(event[1], Release);
        self.written += 1;
        self.ring.head.store(self.written, Release); // W2
    }

    #[cold]
    fn next_chunk(&mut self) {
        self.chunk = self.ring.chunk_for_writer(self.written);
    }
}

impl Ring {
    fn capacity(&self) -> u64 {
        (self.chunks.len() * CHUNK) as u64
    }

    /// The place of the chunk with this event.
    fn chunk_at(&self, index: u64) -> &OnceLock<Arc<Chunk>> {
        &self.chunks[index as usize / CHUNK % self.chunks.len()]
    }

    fn chunk_for_writer(&self, index: u64) -> Arc<Chunk> {
        let new_chunk = || Arc::new(Chunk(std::array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)])));
        self.chunk_at(index).get_or_init(new_chunk).clone()
    }

    /// Copies the latest events. The writer goes on meanwhile.
    pub(super) fn copy(&self) -> Copied {
        let first = self.head.load(Acquire); // R1
        let oldest = first.saturating_sub(self.capacity());
        let mut events: Vec<Words> = (oldest..first).map(|index| self.read(index)).collect(); // R2
        fence(Acquire);
        let second = self.head.load(Relaxed); // R3
        let kept = (second + 1).saturating_sub(self.capacity()).clamp(oldest, first); // R4
        events.drain(..(kept - oldest) as usize);
        Copied { events, overwritten: kept }
    }

    /// The words in the slot of an event that has been written.
    fn read(&self, index: u64) -> Words {
        let chunk = self.chunk_at(index).get().expect("R1 has seen the event, so its chunk is there");
        let slot = &chunk.0[index as usize % CHUNK];
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
            let mut writer = RingWriter::new(2);
            let ring = writer.ring().clone();
            writer.push(words(0));
            writer.push(words(1));
            let writer = thread::spawn(move || (2..5).for_each(|index| writer.push(words(index))));
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

    const SIZE: u64 = CHUNK as u64;

    #[test]
    fn the_latest_events_stay() {
        let mut writer = RingWriter::new(CHUNK);
        let ring = writer.ring().clone();
        assert_eq!(ring.copy().events, Vec::<Words>::new());
        (0..SIZE - 1).for_each(|index| writer.push([index, 0]));
        let copied = ring.copy();
        assert_eq!((copied.overwritten, copied.events), (0, (0..SIZE - 1).map(|index| [index, 0]).collect()));
        (SIZE - 1..SIZE * 3).for_each(|index| writer.push([index, 0]));
        let copied = ring.copy();
        let latest = (SIZE * 2 + 1..SIZE * 3).map(|index| [index, 0]).collect();
        assert_eq!((copied.overwritten, copied.events), (SIZE * 2 + 1, latest));
    }

    #[test]
    fn sizes_are_rounded_up_to_whole_chunks() {
        let capacity = |events| RingWriter::new(events).ring().capacity();
        assert_eq!([0, CHUNK, CHUNK + 1].map(capacity), [SIZE, SIZE, SIZE * 2]);
    }

    #[test]
    fn memory_is_allocated_when_it_is_written() {
        let mut writer = RingWriter::new(8 * CHUNK);
        let ring = writer.ring().clone();
        let allocated = || ring.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        assert_eq!(allocated(), 1, "the writer keeps a chunk at all times");
        (0..=CHUNK).for_each(|_| writer.push([0, 0]));
        assert_eq!(allocated(), 2);
    }

    #[test]
    fn chunks_begin_with_a_cache_line() {
        let writer = RingWriter::new(1);
        assert_eq!(writer.chunk.0.as_ptr().addr() % 64, 0);
        assert_eq!(size_of::<Chunk>(), CHUNK * EVENT_SIZE);
    }

    #[test]
    fn a_reader_beside_a_busy_writer_finds_whole_events_in_order() {
        let mut writer = RingWriter::new(CHUNK);
        let (ring, is_over) = (writer.ring().clone(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut index = 0;
                while !is_over.load(Relaxed) {
                    writer.push([index, !index]);
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
