//! Several things of one kind, in text for people.

use std::fmt;

/// So many are shown.
const SHOWN: usize = 3;

/// Displays the first ones of a list, and how many others there are.
pub(crate) struct Several<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for Several<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{one}", if index == 0 { "" } else { ", " })?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            1 => f.write_str(" and 1 other"),
            others => write!(f, " and {others} others"),
        }
    }
}

/// Adds one that is not in the list yet.
pub(crate) fn add_new<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ones_are_shown_and_the_others_counted() {
        let text = |count| Several(&(1..=count).collect::<Vec<u32>>()).to_string();
        assert_eq!([text(1), text(3)], ["1", "1, 2, 3"]);
        assert_eq!([text(4), text(9)], ["1, 2, 3 and 1 other", "1, 2, 3 and 6 others"]);
    }

    #[test]
    fn each_is_in_the_list_once() {
        let mut list = Vec::new();
        [7, 8, 7].into_iter().for_each(|one| add_new(&mut list, one));
        assert_eq!(list, [7, 8]);
    }
}
