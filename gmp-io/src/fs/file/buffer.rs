//! The buffer of a file: bytes that were read and not taken, or that are to be written.

use std::cmp::min;
use std::io::{self, IoSlice, Read, Write};

use crate::io::{ReadBuf, uninterrupted};

/// The memory is kept from one operation to the next.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// How many of the bytes have been taken.
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

    /// Discards the bytes that were not taken, and returns their number, by which the system's
    /// cursor is ahead of the reader.
    pub(super) fn discard(&mut self) -> i64 {
        let ahead = self.rest().len();
        self.clear();
        // A buffer is never longer than `isize::MAX`.
        ahead as i64
    }

    /// Appends bytes until there are `most`, and returns how many were appended.
    pub(super) fn append(&mut self, bytes: &[u8], most: usize) -> usize {
        let n = min(bytes.len(), most.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..n]);
        n
    }

    /// The same for several slices.
    pub(super) fn append_all(&mut self, pieces: &[IoSlice<'_>], most: usize) -> usize {
        pieces.iter().map(|piece| self.append(piece, most)).sum()
    }

    /// Reads once, so that there are at most `most` bytes. Repeats a read that a signal
    /// interrupted.
    pub(super) fn read_from(&mut self, mut file: impl Read, most: usize) -> io::Result<()> {
        let held = self.bytes.len();
        self.bytes.resize(held.max(most), 0);
        let outcome = uninterrupted(|| file.read(&mut self.bytes[held..]));
        self.bytes.truncate(held + outcome.as_ref().map_or(0, |n| *n));
        outcome.map(drop)
    }

    /// Writes all bytes and clears the buffer. Bytes that could not be written are lost, and the
    /// error reports it.
    pub(super) fn write_to(&mut self, mut file: impl Write) -> io::Result<()> {
        let outcome = file.write_all(self.rest());
        self.clear();
        outcome
    }
}
