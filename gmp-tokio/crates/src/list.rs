//! `crates.toml`: the packages that are run, and how.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::drop_in;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub(crate) package: Vec<Package>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// A requirement as in a manifest. If absent, the newest version is used.
    #[serde(default = "any")]
    pub(crate) version: String,
    /// Features in addition to the default ones.
    #[serde(default)]
    pub(crate) features: Vec<String>,
    /// What is set for the compiler, such as `tokio_unstable`.
    #[serde(default)]
    pub(crate) cfgs: Vec<String>,
    /// Packages of the package's own workspace that its tests use, with features. `cargo publish`
    /// leaves these out of the manifest.
    #[serde(default)]
    pub(crate) needs: BTreeMap<String, Vec<String>>,
    /// Packages of the package's own workspace that its tests use and that were never published:
    /// for each, the source of a library that replaces it.
    #[serde(default)]
    pub(crate) stand_ins: BTreeMap<String, String>,
    /// Additional arguments of `cargo build --tests`.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// The time limit of one test, in seconds.
    #[serde(default = "a_minute")]
    pub(crate) timeout: u64,
    /// Whether to keep the lock file that the package was published with.
    #[serde(default)]
    pub(crate) keep_lock: bool,
    /// Whether other packages in the graph that depend on this package get the unpacked one.
    #[serde(default = "yes")]
    pub(crate) patch: bool,
    /// Files of the package's repository that its tests read in the folder above the package.
    #[serde(default)]
    pub(crate) above: Vec<String>,
    /// The beginnings of names of tests that are not run.
    #[serde(default)]
    pub(crate) skip: Vec<Skip>,
    /// A remark about the package, for the table.
    #[serde(default)]
    pub(crate) note: String,
    /// Tests with known differences between tokio and gmp.
    #[serde(default)]
    pub(crate) difference: Vec<Known>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skip {
    pub(crate) test: String,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    /// The name, as `binary::test`. The binary of a library is called `src`.
    pub(crate) test: String,
    pub(crate) reason: String,
}

fn any() -> String {
    "*".to_owned()
}

fn a_minute() -> u64 {
    60
}

fn yes() -> bool {
    true
}

impl List {
    pub(crate) fn load() -> Result<List, String> {
        let path = drop_in().join("crates.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("crates.toml: {error}"))
    }
}

impl Package {
    pub(crate) fn is_skipped(&self, test: &str) -> bool {
        self.skip.iter().any(|skip| test.starts_with(&skip.test))
    }

    pub(crate) fn reason(&self, test: &str) -> Option<&str> {
        self.difference.iter().find(|known| known.test == test).map(|known| &*known.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_listed_once_and_every_reason_is_given() {
        let list = List::load().unwrap();
        let mut names: Vec<&str> = list.package.iter().map(|package| &*package.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.package.len());
        for package in &list.package {
            assert!(package.difference.iter().all(|known| !known.reason.is_empty()), "{}", package.name);
            assert!(package.skip.iter().all(|skip| !skip.reason.is_empty()), "{}", package.name);
        }
    }

    #[test]
    fn a_name_is_enough() {
        let list: List = toml::from_str("[[package]]\nname = \"a\"").unwrap();
        assert_eq!((&*list.package[0].version, list.package[0].timeout), ("*", 60));
    }
}
