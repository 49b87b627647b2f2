//! Finds the packages whose version differs between two lock files.
//!
//! tokio's version differs on purpose, and so does the version of a package that is too old for the
//! drop-in (see [`crate::needs`]). Without the network, cargo also moves packages that it hasn't
//! downloaded, and does not say so. With the network, cargo would have kept their versions.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;
use semver::Version;

use crate::needs::{Line, lines};

/// A package that has another version now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    name: String,
    from: Version,
    to: Version,
}

impl Move {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.name, self.from, self.to)
    }
}

/// The packages of tokio itself, which change together.
const TOKIOS: [&str; 2] = ["tokio", "tokio-macros"];

/// The moves from one lock file's text to another's, without tokio's own.
pub(crate) fn moves(before: &str, after: &str) -> Result<Vec<Move>> {
    let (before, after) = (packages(before)?, packages(after)?);
    let others = before.into_iter().filter(|(line, _)| !TOKIOS.contains(&line.name.as_str()));
    let moved = others.filter_map(|(line, from)| {
        let to = after.get(&line).filter(|to| **to != from)?.clone();
        Some(Move { name: line.name, from, to })
    });
    Ok(moved.collect())
}

fn packages(lock: &str) -> Result<BTreeMap<Line, Version>> {
    Ok(lines(&lock.parse()?).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> String {
        let source = "source = \"registry+https://example.org/index\"";
        let entry = |(name, version): &(&str, &str)| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}\n")
        };
        packages.iter().map(entry).collect()
    }

    #[test]
    fn only_packages_that_are_there_in_another_version_have_moved() {
        let before = lock(&[("tokio", "1.47.1"), ("slab", "0.4.11"), ("gone", "1.0.0"), ("kept", "1.0.0")]);
        let after = lock(&[("tokio", "1.54.1"), ("slab", "0.4.12"), ("new", "1.0.0"), ("kept", "1.0.0")]);
        let moved: Vec<_> = moves(&before, &after).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(moved, ["slab 0.4.11 -> 0.4.12"]);
    }

    #[test]
    fn another_line_of_versions_beside_the_first_or_instead_of_it_is_no_move() {
        let before = lock(&[("syn", "2.0.0")]);
        for after in [&[("syn", "2.0.0"), ("syn", "3.0.0")][..], &[("syn", "3.0.0")]] {
            assert!(moves(&before, &lock(after)).unwrap().is_empty());
        }
    }

    #[test]
    fn a_move_stays_in_its_line_of_versions() {
        let before = lock(&[("syn", "1.0.1"), ("syn", "2.0.1")]);
        let after = lock(&[("syn", "1.0.2"), ("syn", "2.0.2"), ("syn", "3.0.0")]);
        let moved: Vec<_> = moves(&before, &after).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(moved, ["syn 1.0.1 -> 1.0.2", "syn 2.0.1 -> 2.0.2"]);
    }
}
