//! Moves the packages of a lock file that are too old for the drop-in, and no others, each to the
//! lowest version that is new enough.
//!
//! Cargo keeps a locked version even if the patch's packages need a newer one, and then fails. It
//! has no option for "as little newer as possible", but it can choose the lowest versions of the
//! packages that aren't locked. So this command makes three lock files. The first is of the drop-in
//! alone, and shows which packages both graphs have. The second is the user's without those
//! packages, completed with the lowest versions; it shows the lowest version that each package may
//! have. The third is the user's with every older package replaced. Cargo resolves each of them, so
//! no rule of cargo's resolver is repeated here.
//!
//! Rejected: reading cargo's error message, which names one conflict at a time and is written for
//! people; and letting cargo choose the newest version, which moves more packages than necessary
//! and gives another result each day.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use semver::Version;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::tokio_real::VERSION;

/// A package's name and its range of compatible versions, as in the requirement `1.2`. A lock file
/// has at most one version in each range.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// The version's leading numbers, up to and including the first that isn't zero.
    leading: [u64; 3],
}

impl Line {
    pub(crate) fn of(name: &str, version: &Version) -> Self {
        let leading = match (version.major, version.minor) {
            (0, 0) => [0, 0, version.patch],
            (0, minor) => [0, minor, 0],
            (major, _) => [major, 0, 0],
        };
        Line { name: name.to_owned(), leading }
    }
}

/// The lock file `users`, with the drop-in as its tokio 1.
pub(crate) fn with_drop_in(users: &str) -> Result<String> {
    let mut lock: DocumentMut = users.parse()?;
    let replaced = put_drop_in(&mut lock);
    forget_unused_patch(&mut lock);
    // A package that depends on several tokios names each with its version.
    let mention = |version: &str| format!("\"tokio {version}\"");
    let text = lock.to_string();
    Ok(match replaced {
        Some(old) => text.replace(&mention(&old.to_string()), &mention(VERSION)),
        None => text,
    })
}

/// The lock file `users`, without the packages that `drop_ins`, the drop-in's own lock file, has
/// too.
pub(crate) fn without_shared(users: &str, drop_ins: &str) -> Result<String> {
    let shared: BTreeSet<Line> = lines(&drop_ins.parse()?).map(|(line, _)| line).collect();
    let mut lock: DocumentMut = users.parse()?;
    if let Some(packages) = packages_mut(&mut lock) {
        packages.retain(|package| locked(package).is_none_or(|(line, _)| !shared.contains(&line)));
    }
    Ok(lock.to_string())
}

/// The lock file `users`, in which each package that `is_meant` accepts and that is older than in
/// `lowest` is replaced by the entry in `lowest`.
pub(crate) fn raised(users: &str, lowest: &str, is_meant: impl Fn(&str) -> bool) -> Result<String> {
    let lowest: DocumentMut = lowest.parse()?;
    let others: BTreeMap<Line, &Table> =
        packages(&lowest).filter_map(|package| Some((locked(package)?.0, package))).collect();
    let mut lock: DocumentMut = users.parse()?;
    for package in packages_mut(&mut lock).into_iter().flat_map(ArrayOfTables::iter_mut) {
        let Some((line, version)) = locked(package) else { continue };
        let Some(other) = others.get(&line).filter(|_| is_meant(&line.name)) else { continue };
        let is_newer = locked(other).is_some_and(|(_, needed)| needed > version);
        if is_newer && source(other) == source(package) {
            replace(package, other);
        }
    }
    Ok(lock.to_string())
}

/// The names of the direct dependencies of this repository's packages, from the drop-in's own lock
/// file.
pub(crate) fn direct(drop_ins: &str) -> Result<BTreeSet<String>> {
    let lock: DocumentMut = drop_ins.parse()?;
    let ours = packages(&lock).filter(|package| source(package).is_none());
    let lists = ours.filter_map(|package| package.get("dependencies")?.as_array());
    let mentions = lists.flatten().filter_map(|mention| mention.as_str());
    Ok(mentions.filter_map(|mention| mention.split(' ').next()).map(str::to_owned).collect())
}

/// Each package in the lock file that comes from a registry.
pub(crate) fn lines(lock: &DocumentMut) -> impl Iterator<Item = (Line, Version)> {
    packages(lock).filter_map(locked)
}

fn packages(lock: &DocumentMut) -> impl Iterator<Item = &Table> {
    lock.get("package").and_then(|packages| packages.as_array_of_tables()).into_iter().flatten()
}

fn packages_mut(lock: &mut DocumentMut) -> Option<&mut ArrayOfTables> {
    lock.get_mut("package")?.as_array_of_tables_mut()
}

fn locked(package: &Table) -> Option<(Line, Version)> {
    source(package)?.strip_prefix("registry+")?;
    let version = package.get("version")?.as_str()?.parse().ok()?;
    Some((Line::of(package.get("name")?.as_str()?, &version), version))
}

fn source(package: &Table) -> Option<&str> {
    package.get("source")?.as_str()
}

/// Turns the entry of the registry's tokio 1 into the drop-in's, as cargo writes it for a patch.
/// Returns the version that the entry had.
fn put_drop_in(lock: &mut DocumentMut) -> Option<Version> {
    let is_tokio_1 = |package: &&mut Table| locked(package).is_some_and(|(line, _)| line == tokio_1());
    let tokio = packages_mut(lock)?.iter_mut().find(is_tokio_1)?;
    let (_, old) = locked(tokio)?;
    for key in ["source", "checksum", "dependencies"] {
        tokio.remove(key);
    }
    tokio["version"] = value(VERSION);
    Some(old)
}

/// Removes cargo's entry for a patch that was not used.
fn forget_unused_patch(lock: &mut DocumentMut) {
    let unused = lock.get_mut("patch").and_then(|patch| patch.get_mut("unused")?.as_array_of_tables_mut());
    if let Some(unused) = unused {
        unused.retain(|patch| patch.get("name").and_then(Item::as_str) != Some("tokio"));
    }
}

fn tokio_1() -> Line {
    Line { name: "tokio".to_owned(), leading: [1, 0, 0] }
}

/// The entry's position stays the same, because cargo sorts the entries when it writes the file.
fn replace(package: &mut Table, by: &Table) {
    for key in ["version", "checksum", "dependencies"] {
        match by.get(key) {
            Some(item) => drop(package.insert(key, item.clone())),
            None => drop(package.remove(key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> String {
        let source = "source = \"registry+https://example.org/index\"\nchecksum = \"of";
        let entry = |(name, version): &(&str, &str)| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source} {name} {version}\"\n\n")
        };
        format!("version = 4\n\n{}", packages.iter().map(entry).collect::<String>())
    }

    fn versions(lock: &str) -> Vec<String> {
        let lock: DocumentMut = lock.parse().unwrap();
        let text = |package: &Table, key| package.get(key).unwrap().as_str().unwrap().to_owned();
        packages(&lock).map(|package| format!("{} {}", text(package, "name"), text(package, "version"))).collect()
    }

    #[test]
    fn what_both_have_is_left_out_and_other_lines_of_versions_stay() {
        let users = lock(&[("syn", "1.0.109"), ("syn", "2.0.15"), ("mio", "0.8.8"), ("own", "0.1.2")]);
        let drop_ins = lock(&[("syn", "2.0.100"), ("mio", "1.0.4"), ("own", "0.2.0")]);
        assert_eq!(versions(&without_shared(&users, &drop_ins).unwrap()), ["syn 1.0.109", "mio 0.8.8", "own 0.1.2"]);
    }

    #[test]
    fn tokio_becomes_the_drop_in_and_older_tokios_stay() {
        let user = "[[package]]\nname = \"user\"\nversion = \"0.1.0\"\n\
                    dependencies = [\n \"tokio 0.2.25\",\n \"tokio 1.28.2\",\n]\n";
        let users = lock(&[("tokio", "0.2.25"), ("tokio", "1.28.2")]) + user;
        let text = with_drop_in(&users).unwrap();
        assert_eq!(versions(&text), ["tokio 0.2.25", "tokio 1.54.1", "user 0.1.0"]);
        assert!(text.contains("name = \"tokio\"\nversion = \"1.54.1\"\n\n"), "neither source nor checksum: {text}");
        assert!(text.contains("\"tokio 0.2.25\",\n \"tokio 1.54.1\""), "{text}");
    }

    #[test]
    fn only_what_is_too_old_is_raised() {
        let users = lock(&[("slab", "0.4.2"), ("libc", "0.2.190"), ("syn", "1.0.1"), ("bytes", "1.0.0")]);
        let lowest = lock(&[("slab", "0.4.6"), ("libc", "0.2.172"), ("syn", "2.0.0"), ("bytes", "1.2.1")]);
        let raised = raised(&users, &lowest, |name| name != "bytes").unwrap();
        assert_eq!(versions(&raised), ["slab 0.4.6", "libc 0.2.190", "syn 1.0.1", "bytes 1.0.0"]);
        assert!(raised.contains("checksum = \"of slab 0.4.6\""), "{raised}");
    }

    #[test]
    fn what_is_ours_depends_on_is_known_by_name() {
        let ours =
            "[[package]]\nname = \"gmp\"\nversion = \"0.1.0\"\ndependencies = [\n \"libc\",\n \"syn 2.0.1\",\n]\n";
        let names = direct(&(lock(&[("libc", "0.2.172"), ("syn", "2.0.1")]) + ours)).unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["libc", "syn"]);
    }

    #[test]
    fn lines_end_where_requirements_do() {
        let line = |version: &str| Line::of("a", &version.parse().unwrap());
        assert_eq!(line("1.2.3"), line("1.9.0"));
        assert_eq!(line("0.2.1"), line("0.2.9"));
        for (one, other) in [("1.0.0", "2.0.0"), ("0.1.0", "0.2.0"), ("0.0.1", "0.0.2"), ("0.1.0", "1.0.0")] {
            assert_ne!(line(one), line(other));
        }
    }
}
