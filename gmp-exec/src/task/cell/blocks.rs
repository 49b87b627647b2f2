//! Which block of words a header has ([`Block`]), and where the blocks are.
//!
//! A task keeps its block until its header is freed. The header has the number of the block, which
//! takes half of an address: with a longer header a spawn would take 160 more instructions. Blocks are
//! never freed, so a number leads to its block without a lock. A block belongs to one header at a
//! time, and a reader has the header under the lock that its end takes, so no reader looks at a block
//! that another task has got.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;
use std::sync::{Mutex, MutexGuard};

use crate::task::cell::further::{Block, WORDS};

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

    /// As [`Block::add`].
    pub(in crate::task) fn add(&self, word: u64, full: u64, is_first: bool, replaces: impl Fn(u64) -> bool) {
        self.block().unwrap_or_else(|| self.new_block()).add(word, full, is_first, replaces);
    }

    pub(in crate::task) fn read(&self) -> [u64; WORDS] {
        self.block().map_or([0; WORDS], Block::read)
    }

    fn block(&self) -> Option<&'static Block> {
        let index = self.0.load(Acquire).checked_sub(1)?;
        Some(BLOCKS[index as usize % SHARDS].block(index >> SHARD_BITS))
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

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_header_has_a_block_of_its_own() {
        let many: Vec<Further> = (0..5_000).map(|_| Further::new()).collect();
        let word = |at| at as u64 + 1;
        many.iter().enumerate().for_each(|(at, further)| further.add(word(at), 0, true, |_| false));
        assert!(many.iter().enumerate().all(|(at, further)| further.read()[..2] == [word(at), 0]));
    }
}
