//! The events of one machine: a ring that its thread overwrites again and again, and that any other
//! thread copies without stopping it.
//!
//! Event `i` is in slot `i % capacity`, in two words. `head` counts the events.
//!
//! | writer of event `i` | reader |
//! |---|---|
//! | W1 store both words (Release) | R1 `first = head` (Acquire) |
//! | W2 `head = i + 1` (Release) | R2 copy the last `capacity` events before `first`, or fewer |
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
//! A reader that comes again and again, and asks each time for the events since the last time, gets
//! all of them if it comes before the writer has gone once around. So the writer calls such a
//! reader each time that it has filled a half of the ring.
//!
//! Slots are allocated in chunks of a page, each when it is written for the first time: a thread
//! that rarely does something needs little memory. Four events fill a cache line. The writer keeps
//! the chunk that it writes, so only every 256th event looks for a slot.

use std::sync::OnceLock;
use std::sync::mpsc::Sender;

use super::request::Request;
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
    /// Is called when a half of the ring is full.
    reader: Option<Sender<Request>>,
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
    /// How many were asked for that came before those.
    pub(super) overwritten: u64,
    /// The number of the event after the last one.
    pub(super) end: u64,
}

impl RingWriter {
    /// The writer of a new ring with room for at least so many events, and the reader to call.
    pub(super) fn new(events: usize, reader: Option<Sender<Request>>) -> RingWriter {
        let chunks = (0..events.div_ceil(CHUNK).max(1)).map(|_| OnceLock::new()).collect();
        let ring = Ring { chunks, head: Apart::new(AtomicU64::new(0)), reader };
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
        self.ring.call_reader(self.written);
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

    /// Calls the reader if the next event begins a half.
    fn call_reader(&self, next: u64) {
        let half = (self.chunks.len() / 2).max(1) * CHUNK;
        if let Some(reader) = self.reader.as_ref().filter(|_| next > 0 && next % half as u64 == 0) {
            // No thread reads after the end of the runtime.
            let _ = reader.send(Request::HalfFull);
        }
    }

    /// How many events were written until now.
    pub(super) fn written(&self) -> u64 {
        self.head.load(Relaxed)
    }

    /// Copies the latest events, but none before `from`. The writer goes on meanwhile.
    pub(super) fn copy(&self, from: u64) -> Copied {
        let first = self.head.load(Acquire); // R1
        let oldest = first.saturating_sub(self.capacity()).max(from);
        let mut events: Vec<Words> = (oldest..first).map(|index| self.read(index)).collect(); // R2
        fence(Acquire);
        let second = self.head.load(Relaxed); // R3
        let kept = (second + 1).saturating_sub(self.capacity()).clamp(oldest, first); // R4
        events.drain(..(kept - oldest) as usize);
        Copied { events, overwritten: kept - from, end: first }
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
            let mut writer = RingWriter::new(2, None);
            let ring = writer.ring().clone();
            writer.push(words(0));
            writer.push(words(1));
            let writer = thread::spawn(move || (2..5).for_each(|index| writer.push(words(index))));
            let copied = ring.copy(0);
            for (index, event) in (copied.overwritten..).zip(&copied.events) {
                assert_eq!(*event, words(index));
            }
            assert!(copied.events.len() < 2);
            writer.join().unwrap();
            let last = ring.copy(0);
            assert_eq!((last.overwritten, last.events), (4, vec![words(4)]));
        });
    }

    /// A reader that comes twice: each event is in one of the copies, or counted as overwritten.
    ///
    /// Seen to fail when `end` is the `head` that R3 reads.
    #[test]
    fn loom_ring_counts_what_a_second_copy_has_missed() {
        explore(3, || {
            let mut writer = RingWriter::new(2, None);
            let ring = writer.ring().clone();
            writer.push(words(0));
            let writer = thread::spawn(move || (1..4).for_each(|index| writer.push(words(index))));
            let mut from = 0;
            for _ in 0..2 {
                let copied = ring.copy(from);
                let first = from + copied.overwritten;
                for (index, event) in (first..).zip(&copied.events) {
                    assert_eq!(*event, words(index));
                }
                assert_eq!(first + copied.events.len() as u64, copied.end);
                from = copied.end;
            }
            writer.join().unwrap();
            let last = ring.copy(from);
            assert_eq!((last.end, last.overwritten + last.events.len() as u64), (4, 4 - from));
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
        let mut writer = RingWriter::new(CHUNK, None);
        let ring = writer.ring().clone();
        assert_eq!(ring.copy(0).events, Vec::<Words>::new());
        (0..SIZE - 1).for_each(|index| writer.push([index, 0]));
        let copied = ring.copy(0);
        assert_eq!((copied.overwritten, copied.events), (0, (0..SIZE - 1).map(|index| [index, 0]).collect()));
        (SIZE - 1..SIZE * 3).for_each(|index| writer.push([index, 0]));
        let copied = ring.copy(0);
        let latest = (SIZE * 2 + 1..SIZE * 3).map(|index| [index, 0]).collect();
        assert_eq!((copied.overwritten, copied.events), (SIZE * 2 + 1, latest));
    }

    #[test]
    fn sizes_are_rounded_up_to_whole_chunks() {
        let capacity = |events| RingWriter::new(events, None).ring().capacity();
        assert_eq!([0, CHUNK, CHUNK + 1].map(capacity), [SIZE, SIZE, SIZE * 2]);
    }

    #[test]
    fn memory_is_allocated_when_it_is_written() {
        let mut writer = RingWriter::new(8 * CHUNK, None);
        let ring = writer.ring().clone();
        let allocated = || ring.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        assert_eq!(allocated(), 1, "the writer keeps a chunk at all times");
        (0..=CHUNK).for_each(|_| writer.push([0, 0]));
        assert_eq!(allocated(), 2);
    }

    #[test]
    fn chunks_begin_with_a_cache_line() {
        let writer = RingWriter::new(1, None);
        assert_eq!(writer.chunk.0.as_ptr().addr() % 64, 0);
        assert_eq!(size_of::<Chunk>(), CHUNK * EVENT_SIZE);
    }

    #[test]
    fn a_reader_beside_a_busy_writer_finds_whole_events_in_order() {
        let mut writer = RingWriter::new(CHUNK, None);
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
                let copied = ring.copy(0);
                for (index, event) in (copied.overwritten..).zip(&copied.events) {
                    assert_eq!(*event, [index, !index]);
                }
                seen += copied.events.len();
            }
            is_over.store(true, Relaxed);
        });
    }

    #[test]
    fn the_events_since_the_last_copy_and_how_many_were_missed() {
        let mut writer = RingWriter::new(2 * CHUNK, None);
        let ring = writer.ring().clone();
        (0..SIZE).for_each(|index| writer.push([index, 0]));
        let first = ring.copy(0);
        assert_eq!((first.overwritten, first.end), (0, SIZE));
        let none = ring.copy(first.end);
        assert_eq!((none.overwritten, none.events.len(), none.end), (0, 0, SIZE));
        (SIZE..SIZE * 2).for_each(|index| writer.push([index, 0]));
        let second = ring.copy(first.end);
        assert_eq!((second.overwritten, second.events[0], second.end), (0, [SIZE, 0], SIZE * 2));
        (SIZE * 2..SIZE * 5).for_each(|index| writer.push([index, 0]));
        let third = ring.copy(second.end);
        assert_eq!((third.overwritten, third.events[0], third.end), (SIZE + 1, [SIZE * 3 + 1, 0], SIZE * 5));
    }

    #[test]
    fn the_reader_is_called_for_each_half() {
        let (sender, calls) = std::sync::mpsc::channel();
        let mut writer = RingWriter::new(4 * CHUNK, Some(sender));
        let mut called_after = Vec::new();
        for written in 0..6 * SIZE {
            writer.push([0, 0]);
            called_after.extend(calls.try_iter().map(|_| written));
        }
        assert_eq!(called_after, [2 * SIZE, 4 * SIZE]);
    }
}
