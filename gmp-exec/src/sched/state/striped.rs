//! Several values in place of one that all threads would write to.

use crate::sync::Apart;

/// Values on cache lines of their own. A thread uses the one that its number chooses; a reader of
/// the whole looks at all. The first value is not behind a pointer, because small runtimes have no
/// other.
pub(crate) struct Striped<T> {
    first: Apart<T>,
    others: Box<[Apart<T>]>,
}

impl<T> Striped<T> {
    /// At most `most` values, but at least one. Their number is a power of two.
    pub(crate) fn new(most: usize, value: impl Fn() -> T) -> Striped<T> {
        let count = 1 << most.max(1).ilog2();
        let others = (1..count).map(|_| Apart::new(value())).collect();
        Striped { first: Apart::new(value()), others }
    }

    #[inline]
    pub(crate) fn of(&self, number: usize) -> &T {
        // The number of all values is a power of two, so this is a mask.
        match number & self.others.len() {
            0 => &self.first,
            index => &self.others[index - 1],
        }
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.others.len()
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.others).map(|value| &**value)
    }

    #[inline]
    pub(crate) fn all(&self, is: impl Fn(&T) -> bool) -> bool {
        is(&self.first) && self.others.iter().all(|value| is(value))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_chosen_by_some_number_and_visited() {
        for (most, count) in [(0, 1), (1, 1), (2, 2), (3, 2), (8, 8), (63, 32)] {
            let next = std::cell::Cell::new(0);
            let values = Striped::new(most, || next.replace(next.get() + 1));
            let sorted = |values: &mut dyn Iterator<Item = &i32>| {
                let mut values: Vec<i32> = values.copied().collect();
                values.sort_unstable();
                values
            };
            let all: Vec<i32> = (0..count).collect();
            assert_eq!(sorted(&mut values.iter()), all);
            assert_eq!(sorted(&mut (0..values.len()).map(|number| values.of(number + 5 * values.len()))), all);
            assert!(values.all(|&value| value < count) && (0..count).all(|odd| !values.all(|&value| value != odd)));
        }
    }
}
