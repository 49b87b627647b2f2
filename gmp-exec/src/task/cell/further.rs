//! What a task waits for besides the first future that had to wait in its last poll.
//!
//! A [`Note`](crate::task::cell::waiting) is one word. A task with a poll in which a second future
//! had to wait gets a *block* of words, and keeps it until its header is freed. The header has the
//! number of the block, which takes half of an address: with a longer header a spawn would take 160
//! more instructions. Blocks are never freed, so a number leads to its block without a lock.
//!
//! The words are written and read as the note is ([`Progress`](crate::task::cell::progress)): Release
//! after the poll's B1, and Acquire between R1 and R3. A word 0 ends them. The first one of a poll
//! is written when the note doesn't say yet that there are others, and the note says so afterwards.
//! A block belongs to one header at a time, and a reader has the header under the lock that its end
//! takes, so no reader looks at a block that another task has got.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Mutex, MutexGuard};

/// Words of a block.
pub(in crate::task) const WORDS: usize = 8;

#[derive(Debug)]
struct Block([AtomicU64; WORDS]);

/// The number of a header's block, from 1; 0: none.
#[derive(Debug)]
pub(in crate::task) struct Further(AtomicU32);

/// Blocks for the headers whose addresses choose this shard.
#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    /// The segment with the index *n* has `FIRST << n` blocks.
    segments: [OnceLock<Box<[Block]>>; SEGMENTS],
    indices: Mutex<Indices>,
}

#[derive(Debug)]
struct Indices {
    free: Vec<u32>,
    /// Indices below this one have been given.
    next: u32,
}

const SHARD_BITS: u32 = 4;
const SHARDS: usize = 1 << SHARD_BITS;
const FIRST: u32 = 16;
const SEGMENTS: usize = 24;

static BLOCKS: [Shard; SHARDS] = [const { Shard::new() }; SHARDS];

impl Further {
    #[inline]
    pub(in crate::task) fn new() -> Further {
        Further(AtomicU32::new(0))
    }

    /// Adds a word that is not there yet. `is_first`: the words there are of an earlier poll.
    /// `replaces`: whether a word that is there gives way to the new one. A word that finds no room
    /// replaces the last one by `full`. Called by the thread that polls the task.
    pub(in crate::task) fn add(&self, word: u64, full: u64, is_first: bool, replaces: impl Fn(u64) -> bool) {
        let words = &self.block_or_new().0;
        let used = if is_first { 0 } else { WORDS };
        let is_end = |at: usize| at >= used || words[at].load(Relaxed) == 0;
        let at =
            (0..WORDS).find(|&at| is_end(at) || words[at].load(Relaxed) == word || replaces(words[at].load(Relaxed)));
        match at {
            None => words[WORDS - 1].store(full, Release),
            Some(at) if is_end(at) => {
                if let Some(next) = words.get(at + 1) {
                    next.store(0, Release);
                }
                words[at].store(word, Release);
            }
            Some(at) => words[at].store(word, Release),
        }
    }

    pub(in crate::task) fn read(&self) -> [u64; WORDS] {
        let mut read = [0; WORDS];
        if let Some(block) = self.block() {
            let words = block.0.iter().map(|word| word.load(Acquire)).take_while(|word| *word != 0);
            read.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        }
        read
    }

    fn block(&self) -> Option<&'static Block> {
        let index = self.0.load(Acquire).checked_sub(1)?;
        Some(BLOCKS[index as usize % SHARDS].block(index >> SHARD_BITS))
    }

    fn block_or_new(&self) -> &'static Block {
        self.block().unwrap_or_else(|| self.new_block())
    }

    #[cold]
    fn new_block(&self) -> &'static Block {
        let shard = (ptr::from_ref(self).addr() >> 6) % SHARDS;
        let index = BLOCKS[shard].take();
        self.0.store((index << SHARD_BITS | shard as u32) + 1, Release);
        BLOCKS[shard].block(index)
    }
}

impl Drop for Further {
    #[inline]
    fn drop(&mut self) {
        if let Some(index) = self.0.get_mut().checked_sub(1) {
            give_back(index);
        }
    }
}

#[cold]
fn give_back(index: u32) {
    BLOCKS[index as usize % SHARDS].lock().free.push(index >> SHARD_BITS);
}

impl Shard {
    const fn new() -> Shard {
        Shard {
            segments: [const { OnceLock::new() }; SEGMENTS],
            indices: Mutex::new(Indices { free: Vec::new(), next: 0 }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Indices> {
        self.indices.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn take(&self) -> u32 {
        let mut indices = self.lock();
        indices.free.pop().unwrap_or_else(|| {
            indices.next += 1;
            indices.next - 1
        })
    }

    fn block(&self, index: u32) -> &Block {
        let segment = (index / FIRST + 1).ilog2();
        let first = FIRST * ((1 << segment) - 1);
        let blocks =
            self.segments[segment as usize].get_or_init(|| (0..FIRST << segment).map(|_| Block::new()).collect());
        &blocks[(index - first) as usize]
    }
}

impl Block {
    fn new() -> Block {
        Block([const { AtomicU64::new(0) }; WORDS])
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const FULL: u64 = 99;

    fn words(further: &Further) -> Vec<u64> {
        further.read().into_iter().take_while(|word| *word != 0).collect()
    }

    fn add(further: &Further, word: u64, is_first: bool) {
        further.add(word, FULL, is_first, |_| false);
    }

    #[test]
    fn words_are_those_since_the_first_one_and_none_is_there_twice() {
        let further = Further::new();
        assert_eq!(words(&further), []);
        for (word, is_first) in [(1, true), (2, false), (1, false), (3, false)] {
            add(&further, word, is_first);
        }
        assert_eq!(words(&further), [1, 2, 3]);
        add(&further, 4, true);
        assert_eq!(words(&further), [4]);
        further.add(5, FULL, false, |word| word == 4);
        assert_eq!(words(&further), [5]);
    }

    #[test]
    fn a_word_without_room_is_not_lost_silently() {
        let further = Further::new();
        (1..=WORDS as u64).for_each(|word| add(&further, word, word == 1));
        assert_eq!(words(&further)[WORDS - 1], WORDS as u64);
        add(&further, 50, false);
        assert_eq!(words(&further)[WORDS - 1], FULL);
        assert_eq!(words(&further).len(), WORDS);
    }

    #[test]
    fn each_header_has_a_block_of_its_own() {
        let many: Vec<Further> = (0..5_000).map(|_| Further::new()).collect();
        many.iter().enumerate().for_each(|(at, further)| add(further, at as u64 + 1, true));
        assert!(many.iter().enumerate().all(|(at, further)| words(further) == [at as u64 + 1]));
    }
}
