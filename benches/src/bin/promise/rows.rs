//! All rows, by name.

use crate::{lateness, numbers};

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    lateness::ROWS.iter().map(|row| row.name).chain(numbers::ROWS.iter().map(|row| row.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--only` and the process that measures one row find a row by its name.
    #[test]
    fn no_name_is_a_part_of_another_one() {
        for name in names() {
            assert_eq!(names().filter(|other| other.contains(name)).count(), 1, "{name}");
        }
    }
}
