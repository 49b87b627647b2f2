//! Small numbers for places and names, so that an event has room for them.
//!
//! A table of a fixed size, hashed by address. The number of an entry is its index plus one. An
//! entry is made once and never removed. Where the table is full the number is 0: unknown.

use std::sync::OnceLock;

/// A power of two; numbers have 16 bits.
const SIZE: usize = 4096;
/// How many entries are looked at before the table counts as full.
const PROBES: usize = 32;

#[derive(Debug)]
pub(super) struct Names<T: 'static + ?Sized> {
    entries: Box<[OnceLock<&'static T>]>,
}

impl<T: 'static + ?Sized> Names<T> {
    pub(super) fn new() -> Names<T> {
        Names { entries: (0..SIZE).map(|_| OnceLock::new()).collect() }
    }

    /// The number of this value. Two values with equal contents may have different numbers.
    #[inline]
    pub(super) fn number(&self, value: &'static T) -> u16 {
        let address = std::ptr::from_ref(value).cast::<()>().addr() as u64;
        // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
        let hash = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        for probe in 0..PROBES {
            let index = (hash + probe) % SIZE;
            // Two values at one address: a string and a longer one that begins with it.
            let is_same = |known: &T| std::ptr::eq(known, value);
            if is_same(self.entries[index].get_or_init(|| value)) {
                return index as u16 + 1;
            }
        }
        0
    }

    pub(super) fn get(&self, number: u16) -> Option<&'static T> {
        self.entries[usize::from(number).checked_sub(1)?].get().copied()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let names = Names::<str>::new();
        let text = "abc";
        let (whole, part) = (names.number(text), names.number(&text[..2]));
        assert_eq!((names.get(whole), names.get(part)), (Some("abc"), Some("ab")));
        assert_eq!((names.number(text), names.number(&text[..2])), (whole, part));
        assert_eq!(names.get(0), None);
    }

    #[test]
    fn a_full_table_knows_no_number() {
        let names = Names::<str>::new();
        let text: &'static str = Box::leak("x".repeat(2 * SIZE).into_boxed_str());
        let numbers: Vec<u16> = (0..2 * SIZE).map(|index| names.number(&text[index..=index])).collect();
        assert!(numbers.contains(&0));
        for (index, number) in numbers.into_iter().enumerate().filter(|(_, number)| *number > 0) {
            assert!(std::ptr::eq(names.get(number).unwrap(), &text[index..=index]));
        }
    }
}
