//! What a file has read and nobody has taken, or has been given to write.

use std::cmp::min;
use std::io::{self, IoSlice, Read, Write};

use crate::io::ReadBuf;

/// Its memory is kept from one operation to the next.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// How many of them have been taken.
    taken: usize,
}

impl Buffer {
    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
    }

    /// Moves as much as fits into `dst`.
    pub(super) fn move_into(&mut self, dst: &mut ReadBuf<'_>) {
        let n = min(self.rest().len(), dst.remaining());
        dst.put_slice(&self.rest()[..n]);
        self.taken += n;
        if self.is_empty() {
            self.clear();
        }
    }

    /// Forgets what has been read and not taken, and returns by how much that puts the system's cursor ahead of the reader.
    pub(super) fn discard(&mut self) -> i64 {
        let ahead = self.rest().len();
        self.clear();
        // A buffer is no longer than `isize::MAX`.
        ahead as i64
    }

    /// Puts bytes behind those that are there, up to `most` in all, and returns how many it took.
    pub(super) fn append(&mut self, bytes: &[u8], most: usize) -> usize {
        let n = min(bytes.len(), most.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..n]);
        n
    }

    /// The same for several pieces.
    pub(super) fn append_all(&mut self, pieces: &[IoSlice<'_>], most: usize) -> usize {
        pieces.iter().map(|piece| self.append(piece, most)).sum()
    }

    /// Reads, once, so that `most` bytes are there at most. A signal does not count.
    pub(super) fn read_from(&mut self, mut file: impl Read, most: usize) -> io::Result<()> {
        let held = self.bytes.len();
        self.bytes.resize(held.max(most), 0);
        let outcome = loop {
            match file.read(&mut self.bytes[held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        self.bytes.truncate(held + outcome.as_ref().map_or(0, |n| *n));
        outcome.map(drop)
    }

    /// Writes all, and is empty then. What could not be written is lost, and the error says so.
    pub(super) fn write_to(&mut self, mut file: impl Write) -> io::Result<()> {
        let outcome = file.write_all(self.rest());
        self.clear();
        outcome
    }
}
