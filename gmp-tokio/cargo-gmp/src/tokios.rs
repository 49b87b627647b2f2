//! Finds the tokios of a lock file, and why the patch does not replace some of them.
//!
//! A graph can have only one tokio 1.x, or cargo fails; under the patch it should be the drop-in.
//! It is not the drop-in if a package asks for tokio from another source (git, a folder, another
//! registry) or for a version that the drop-in doesn't have. Older tokios (0.1 to 0.3) are
//! different libraries and stay as they are.

use anyhow::{Context, Result};
use semver::{Version, VersionReq};
use toml_edit::{DocumentMut, Item, Table};

use crate::metadata::{Dependency, Metadata, Node};
use crate::tokio_real::VERSION;

/// One tokio of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Locked {
    pub(crate) version: Version,
    pub(crate) origin: Origin,
}

/// Where a lock file says that a package comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The text in the lock file.
    Registry(String),
    Git(String),
    /// A folder, such as the drop-in's.
    Folder,
}

/// The entries for tokio in a lock file.
#[derive(Debug)]
pub(crate) struct Tokios {
    locked: Vec<Locked>,
    is_patch_unused: bool,
}

impl Tokios {
    /// Reads the text of a `Cargo.lock`.
    pub(crate) fn read(lock: &str) -> Result<Self> {
        let lock: DocumentMut = lock.parse().context("can't read Cargo.lock")?;
        let packages = lock.get("package").and_then(|packages| packages.as_array_of_tables());
        let tokios = packages.into_iter().flatten().filter(|package| is_tokio(package));
        let unused = lock.get("patch").and_then(|patch| patch.get("unused")?.as_array_of_tables());
        Ok(Tokios {
            locked: tokios.map(locked).collect::<Result<_>>()?,
            is_patch_unused: unused.into_iter().flatten().any(is_tokio),
        })
    }

    /// The tokio 1.x from a registry, which the drop-in has to replace.
    pub(crate) fn to_replace(&self) -> Option<(&Locked, &str)> {
        self.locked.iter().find_map(|locked| match &locked.origin {
            Origin::Registry(source) if locked.version.major == 1 => Some((locked, source.as_str())),
            _ => None,
        })
    }

    /// The same tokio, as cargo's commands name a package.
    pub(crate) fn to_replace_spec(&self) -> Option<String> {
        self.to_replace().map(|(locked, source)| format!("{source}#tokio@{}", locked.version))
    }

    /// The tokios from a registry with another major version.
    pub(crate) fn older(&self) -> impl Iterator<Item = &Version> {
        let older = |locked: &&Locked| matches!(locked.origin, Origin::Registry(_)) && locked.version.major != 1;
        self.locked.iter().filter(older).map(|locked| &locked.version)
    }

    /// The git repository of a tokio that comes from git.
    pub(crate) fn git_repository(&self) -> Option<&str> {
        self.locked.iter().find_map(|locked| match &locked.origin {
            Origin::Git(url) => Some(url.as_str()),
            _ => None,
        })
    }

    /// Whether a tokio comes from a folder other than the drop-in's.
    pub(crate) fn has_other_folder(&self) -> bool {
        let folders = self.locked.iter().filter(|locked| locked.origin == Origin::Folder).count();
        folders > 1 || (folders == 1 && self.is_patch_unused)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.locked.is_empty()
    }
}

/// Removes the note that a patch of tokio is not used.
pub(crate) fn remove_unused(lock: &mut DocumentMut) {
    let Some(patch) = lock.get_mut("patch").and_then(Item::as_table_mut) else { return };
    let Some(unused) = patch.get_mut("unused").and_then(Item::as_array_of_tables_mut) else { return };
    unused.retain(|package| !is_tokio(package));
    if unused.is_empty() {
        lock.remove("patch");
    }
}

fn is_tokio(package: &Table) -> bool {
    package.get("name").and_then(|name| name.as_str()) == Some("tokio")
}

fn locked(package: &Table) -> Result<Locked> {
    let text = |key: &str| package.get(key).and_then(|value| value.as_str());
    let version = text("version").context("a locked package without a version")?;
    let origin = match text("source") {
        None => Origin::Folder,
        Some(source) => match source.strip_prefix("git+") {
            Some(url) => Origin::Git(url.split(['?', '#']).next().unwrap_or(url).to_owned()),
            None => Origin::Registry(source.to_owned()),
        },
    };
    Ok(Locked { version: version.parse()?, origin })
}

/// A package and its requirement on tokio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) by: String,
    pub(crate) requirement: VersionReq,
    /// The source that the package wants tokio from, as cargo prints sources. `None` for a folder.
    pub(crate) source: Option<String>,
}

/// The packages that depend on a tokio 1.x in a resolved graph, with their requirements.
pub(crate) fn demands(metadata: &Metadata) -> Vec<Demand> {
    let mut demands: Vec<_> = metadata.nodes.iter().flat_map(|node| demands_of(metadata, node)).collect();
    demands.sort_by(|a, b| a.by.cmp(&b.by));
    demands.dedup();
    demands
}

/// The package's requirements that a tokio 1.x meets. A package may ask for other tokios too, and
/// for some only with a feature.
fn demands_of(metadata: &Metadata, node: &Node) -> Vec<Demand> {
    let met = node.dependencies.iter().filter(|(_, id)| is_tokio_1(metadata, id));
    let names: Vec<_> = met.map(|(name, _)| name.as_str()).collect();
    let Some(package) = metadata.packages.iter().find(|package| package.id == node.id) else { return Vec::new() };
    let on_tokio = package.dependencies.iter().filter(|dependency| dependency.name == "tokio");
    let is_met = |dependency: &&Dependency| {
        let name = dependency.rename.as_deref().unwrap_or(&dependency.name);
        names.contains(&name.replace('-', "_").as_str())
    };
    let demand = |dependency: &Dependency| Demand {
        by: format!("{} {}", package.name, package.version),
        requirement: dependency.requirement.clone(),
        source: dependency.source.clone(),
    };
    on_tokio.filter(is_met).map(demand).collect()
}

fn is_tokio_1(metadata: &Metadata, id: &str) -> bool {
    metadata.packages.iter().any(|package| package.id == id && package.name == "tokio" && package.version.major == 1)
}

/// The version of tokio that the drop-in has.
pub(crate) fn drop_in_version() -> Version {
    VERSION.parse().expect("a version")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(packages: &str) -> Tokios {
        Tokios::read(&format!("version = 4\n\n{packages}")).unwrap()
    }

    const REGISTRY: &str =
        "[[package]]\nname = \"tokio\"\nversion = \"1.47.1\"\nsource = \"registry+https://example.org/index\"\n";
    const OLD: &str =
        "[[package]]\nname = \"tokio\"\nversion = \"0.2.25\"\nsource = \"registry+https://example.org/index\"\n";
    const FOLDER: &str = "[[package]]\nname = \"tokio\"\nversion = \"1.54.1\"\n";
    const GIT: &str = "[[package]]\nname = \"tokio\"\nversion = \"1.55.0\"\nsource = \"git+https://example.org/tokio?branch=x#abc\"\n";
    const UNUSED: &str = "[[patch.unused]]\nname = \"tokio\"\nversion = \"1.54.1\"\n";

    #[test]
    fn the_registrys_tokio_1_is_to_be_replaced_and_older_ones_are_not() {
        let tokios = read(&format!("{REGISTRY}{OLD}"));
        let (locked, source) = tokios.to_replace().unwrap();
        assert_eq!((locked.version.to_string().as_str(), source), ("1.47.1", "registry+https://example.org/index"));
        assert_eq!(tokios.older().map(ToString::to_string).collect::<Vec<_>>(), ["0.2.25"]);
        assert!(read(OLD).to_replace().is_none());
        assert!(read("").is_empty());
    }

    #[test]
    fn a_tokio_from_git_is_found_with_its_address() {
        assert_eq!(read(&format!("{GIT}{UNUSED}")).git_repository(), Some("https://example.org/tokio"));
        assert_eq!(read(REGISTRY).git_repository(), None);
    }

    #[test]
    fn the_drop_in_is_told_from_another_folder() {
        assert!(!read(FOLDER).has_other_folder());
        assert!(read(&format!("{FOLDER}{UNUSED}")).has_other_folder());
        let other = FOLDER.replace("1.54.1", "1.50.0");
        assert!(read(&format!("{FOLDER}{other}")).has_other_folder());
    }
}
