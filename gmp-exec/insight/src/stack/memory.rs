//! This process's memory, read through `/proc/self/mem`: an address that is not mapped, or no
//! longer mapped, gives fewer bytes and no fault.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

#[derive(Debug)]
pub(super) struct Memory(File);

impl Memory {
    pub(super) fn open() -> io::Result<Memory> {
        File::open("/proc/self/mem").map(Memory)
    }

    /// At most `length` bytes: as many as are mapped.
    pub(super) fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            match self.0.read_at(&mut bytes[filled..], address + filled as u64) {
                Ok(0) | Err(_) => break,
                Ok(more) => filled += more,
            }
        }
        bytes.truncate(filled);
        bytes
    }

    #[cfg(any(test, target_arch = "x86_64"))]
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.read(address, 8);
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// A copy of the used part of a thread's stack.
#[derive(Debug)]
pub struct Copy {
    start: u64,
    bytes: Vec<u8>,
}

impl Copy {
    pub(super) fn of(memory: &Memory, stack_pointer: u64, most: usize) -> Copy {
        Copy::new(stack_pointer, memory.read(stack_pointer, most))
    }

    /// The first of these bytes was at `start`.
    pub fn new(start: u64, bytes: Vec<u8>) -> Copy {
        Copy { start, bytes }
    }

    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let bytes = self.bytes.get(offset..offset.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::{Copy, Memory};

    #[test]
    fn what_is_mapped_is_read_and_nothing_else() {
        let memory = Memory::open().unwrap();
        let values = [1_u64, 2, 3];
        let address = values.as_ptr().addr() as u64;
        assert_eq!(memory.word(address + 8), Some(2));
        assert_eq!(memory.word(8), None);
        assert_eq!(memory.read(8, 16), []);
        let copy = Copy::of(&memory, address, 20);
        assert_eq!((copy.end(), copy.word(address), copy.word(address + 8)), (address + 20, Some(1), Some(2)));
        assert_eq!([address - 8, address + 16, u64::MAX - 3].map(|address| copy.word(address)), [None; 3]);
    }
}
