//! Several values in place of one that all threads would write to.

use crate::sync::Apart;

/// Values on cache lines of their own. A thread uses the one that its number chooses; whoever wants
/// to know the whole looks at all.
#[derive(Debug)]
pub(crate) struct Striped<T>(Box<[Apart<T>]>);

impl<T> Striped<T> {
    /// At most `most` values: their number is a power of two, so that choosing one is cheap.
    pub(crate) fn new(most: usize, value: impl Fn() -> T) -> Striped<T> {
        let count = 1 << most.max(1).ilog2();
        Striped((0..count).map(|_| Apart::new(value())).collect())
    }

    #[inline]
    pub(crate) fn of(&self, number: usize) -> &T {
        &self.0[number & (self.0.len() - 1)]
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|value| &**value)
    }
}
