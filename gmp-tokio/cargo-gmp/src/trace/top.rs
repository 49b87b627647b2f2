//! The largest entries of a long list, without the list.

use std::cmp::Reverse;

/// Entries in each list of the report.
pub(super) const MOST: usize = 10;

#[derive(Debug)]
pub(super) struct Top<T>(Vec<(u64, u64, T)>);

impl<T> Default for Top<T> {
    fn default() -> Top<T> {
        Top(Vec::new())
    }
}

impl<T> Top<T> {
    /// Of equal ones, the earlier comes first.
    pub(super) fn add(&mut self, size: u64, at: u64, entry: T) {
        self.0.push((size, at, entry));
        if self.0.len() >= 8 * MOST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.0.sort_by_key(|(size, at, _)| (Reverse(*size), *at));
        self.0.truncate(MOST);
    }

    /// The largest first.
    pub(super) fn list(&mut self) -> impl Iterator<Item = (u64, &T)> {
        self.cut();
        self.0.iter().map(|(size, _, entry)| (*size, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay() {
        let mut top = Top::default();
        (0..1_000).for_each(|size| top.add(size * 7 % 1_000, size, size));
        let sizes: Vec<u64> = top.list().map(|(size, _)| size).collect();
        assert_eq!(sizes, (990..1_000).rev().collect::<Vec<u64>>());
    }
}
