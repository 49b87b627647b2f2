//! What was seen of threads that sleep, with small numbers, so that an event has room for them.

use crate::blocked::Sight;
use crate::sync::Mutex;

/// More different ones are not kept. Each has a stack of a few hundred bytes.
const MOST: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Sights(Mutex<Vec<Sight>>);

impl Sights {
    /// The same for an equal one. 0: there are too many.
    pub(super) fn number(&self, sight: Sight) -> u16 {
        let mut sights = self.0.lock();
        let index = match sights.iter().position(|known| *known == sight) {
            Some(index) => index,
            None if sights.len() == MOST => return 0,
            None => {
                sights.push(sight);
                sights.len() - 1
            }
        };
        index as u16 + 1
    }

    pub(super) fn get(&self, number: u16) -> Option<Sight> {
        self.0.lock().get(usize::from(number).checked_sub(1)?).cloned()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_have_one_number() {
        let sights = Sights::default();
        let numbers = ["read", "write", "read"].map(|call| sights.number(Sight::for_test(call)));
        assert_eq!(numbers, [1, 2, 1]);
        assert_eq!(sights.get(2), Some(Sight::for_test("write")));
        assert_eq!((sights.get(0), sights.get(3)), (None, None));
    }
}
