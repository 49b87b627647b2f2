//! What a task waits for besides the first future that had to wait in its last poll.
//!
//! A [`Note`](crate::task::cell::waiting) is one word. A task with a poll in which a second future
//! had to wait gets a *block* of words (`blocks`).
//!
//! The words are written and read as the note is ([`Progress`](crate::task::cell::progress)): Release
//! after the poll's B1, and Acquire between R1 and R3. A word 0 ends them. The first one of a poll
//! is written when the note doesn't say yet that there are others, and the note says so afterwards.
//! Model: `loom_progress_*`.

use std::sync::atomic::Ordering::*;

use self::chosen::AtomicU64;
pub(in crate::task) use self::chosen::Further;

#[cfg(not(loom))]
mod chosen {
    pub(super) use std::sync::atomic::AtomicU64;

    pub(in crate::task) use crate::task::cell::blocks::Further;
}

/// loom's atomics can't be in a static, so the header of a model has its block itself.
#[cfg(loom)]
mod chosen {
    pub(super) use crate::sync::atomic::AtomicU64;

    pub(in crate::task) type Further = super::Block;
}

/// Words of a block.
pub(in crate::task) const WORDS: usize = 8;

#[derive(Debug)]
pub(in crate::task) struct Block([AtomicU64; WORDS]);

impl Block {
    pub(in crate::task) fn new() -> Block {
        Block(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Adds a word that is not there yet. `is_first`: the words there are of an earlier poll.
    /// `replaces`: whether a word that is there gives way to the new one. A word that finds no room
    /// replaces the last one by `full`. Called by the thread that polls the task.
    pub(in crate::task) fn add(&self, word: u64, full: u64, is_first: bool, replaces: impl Fn(u64) -> bool) {
        let Block(words) = self;
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
        let words = self.0.iter().map(|word| word.load(Acquire)).take_while(|word| *word != 0);
        read.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        read
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const FULL: u64 = 99;

    fn words(block: &Block) -> Vec<u64> {
        block.read().into_iter().take_while(|word| *word != 0).collect()
    }

    fn add(block: &Block, word: u64, is_first: bool) {
        block.add(word, FULL, is_first, |_| false);
    }

    #[test]
    fn words_are_those_since_the_first_one_and_none_is_there_twice() {
        let block = Block::new();
        assert_eq!(words(&block), []);
        for (word, is_first) in [(1, true), (2, false), (1, false), (3, false)] {
            add(&block, word, is_first);
        }
        assert_eq!(words(&block), [1, 2, 3]);
        add(&block, 4, true);
        assert_eq!(words(&block), [4]);
        block.add(5, FULL, false, |word| word == 4);
        assert_eq!(words(&block), [5]);
    }

    #[test]
    fn a_word_without_room_is_not_lost_silently() {
        let block = Block::new();
        (1..=WORDS as u64).for_each(|word| add(&block, word, word == 1));
        assert_eq!(words(&block)[WORDS - 1], WORDS as u64);
        add(&block, 50, false);
        assert_eq!(words(&block)[WORDS - 1], FULL);
        assert_eq!(words(&block).len(), WORDS);
    }
}
