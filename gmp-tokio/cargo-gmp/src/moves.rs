//! Which packages got another version between two lock files.
//!
//! tokio does, that is the point, and what the drop-in needs newer may. Without the network, cargo also moves packages
//! that it hasn't downloaded, and says nothing; with it, it would have kept them.

use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt;
use toml_edit::DocumentMut;

/// A package that is there in another version now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    name: String,
    from: String,
    to: String,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} is {} here", self.name, self.from, self.to)
    }
}

/// The moves from one lock file's text to another's, without tokio's own.
pub(crate) fn moves(before: &str, after: &str) -> Result<Vec<Move>> {
    let (before, after) = (packages(before)?, packages(after)?);
    let gone = before.difference(&after).filter(|(name, _)| name != "tokio");
    let moved = gone.filter_map(|(name, from)| {
        let (_, to) = after.difference(&before).find(|(other, _)| other == name)?;
        Some(Move { name: name.clone(), from: from.clone(), to: to.clone() })
    });
    Ok(moved.collect())
}

fn packages(lock: &str) -> Result<BTreeSet<(String, String)>> {
    let lock: DocumentMut = lock.parse()?;
    let packages = lock.get("package").and_then(|packages| packages.as_array_of_tables());
    let named = packages.into_iter().flatten().filter_map(|package| {
        Some((package.get("name")?.as_str()?.to_owned(), package.get("version")?.as_str()?.to_owned()))
    });
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> String {
        let entry =
            |(name, version): &(&str, &str)| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        packages.iter().map(entry).collect()
    }

    #[test]
    fn only_packages_that_are_there_in_another_version_have_moved() {
        let before = lock(&[("tokio", "1.47.1"), ("slab", "0.4.11"), ("gone", "1.0.0"), ("kept", "1.0.0")]);
        let after = lock(&[("tokio", "1.54.1"), ("slab", "0.4.12"), ("new", "1.0.0"), ("kept", "1.0.0")]);
        let moved: Vec<_> = moves(&before, &after).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(moved, ["slab 0.4.11 is 0.4.12 here"]);
    }

    #[test]
    fn a_second_version_beside_the_first_is_no_move() {
        let before = lock(&[("syn", "2.0.0")]);
        assert!(moves(&before, &lock(&[("syn", "2.0.0"), ("syn", "3.0.0")])).unwrap().is_empty());
    }
}
