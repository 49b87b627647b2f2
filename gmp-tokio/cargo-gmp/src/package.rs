//! Gets a package from the registry, downloaded and unpacked by cargo.
//!
//! Cargo downloads the package because a small generated package depends on it. So the user's
//! configuration of registries (a mirror, a vendored folder, no network) applies.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use semver::{Comparator, Op, Version, VersionReq};
use toml_edit::{DocumentMut, value};

use crate::cargo::Cargo;
use crate::metadata::Metadata;
use crate::sources::{HOST, path_text};
use crate::tokio_real::VERSION;

/// The name of the generated package.
const ASKING: &str = "asks-for-a-package";

/// A library from the same registry. Cargo has downloaded it already and lists its folder.
const GUIDE: &str = "tokio";

/// An unpacked package.
#[derive(Debug)]
pub struct Unpacked {
    /// Cargo's own copy, which must not be written to.
    pub folder: PathBuf,
    /// The lock file that records the package's origin.
    pub(crate) lock: String,
    /// The version that cargo chose.
    pub version: String,
}

/// Gets the newest version of `name` that meets `requirement` and doesn't need a newer tokio than
/// the drop-in's.
///
/// # Errors
///
/// If there is no such version, or if the registry doesn't answer and cargo has not downloaded the
/// package before.
pub fn download(cargo: &Cargo, name: &str, requirement: &str) -> Result<Unpacked> {
    let asking = tempfile::tempdir()?;
    let manifest = write_asking_package(asking.path(), name, requirement, Some(VERSION))?;
    let metadata = metadata(cargo, &manifest, is_exact(requirement))
        .with_context(|| format!("can't get {name} {requirement} from the registry"))?;
    let lock = fs::read_to_string(asking.path().join("Cargo.lock"))?;
    let version = version(&lock, name)?;
    let folder = folder(&metadata, name, &version);
    Ok(Unpacked {
        folder: folder.with_context(|| format!("cargo doesn't say where it has put {name}"))?,
        lock,
        version,
    })
}

/// Returns a newer version than `chosen` that meets `requirement`, whichever tokio it needs. Does
/// not download the package.
pub(crate) fn newer(cargo: &Cargo, name: &str, requirement: &str, chosen: &str) -> Result<Option<String>> {
    if is_exact(requirement) {
        return Ok(None);
    }
    let newest = newest_beside(cargo, name, requirement, None)?;
    let is_newer = newest.parse::<Version>()? > chosen.parse()?;
    Ok(is_newer.then_some(newest))
}

/// The version of `name` that cargo chooses together with the given tokio.
fn newest_beside(cargo: &Cargo, name: &str, requirement: &str, tokio: Option<&str>) -> Result<String> {
    let asking = tempfile::tempdir()?;
    let manifest = write_asking_package(asking.path(), name, requirement, tokio)?;
    cargo.run_network_first(&["generate-lockfile", "--manifest-path", path_text(&manifest)?])?;
    version(&fs::read_to_string(asking.path().join("Cargo.lock"))?, name)
}

/// The version that cargo chose.
fn version(lock: &str, name: &str) -> Result<String> {
    let lock: DocumentMut = lock.parse()?;
    let packages: Vec<_> =
        lock.get("package").and_then(|list| list.as_array_of_tables()).into_iter().flatten().collect();
    let find = |name| packages.iter().find(|package| package["name"].as_str() == Some(name));
    let dependency = find(ASKING).and_then(|package| package.get("dependencies")?.get(0)?.as_str());
    // If a program depends on an older version of itself, the lock file names each with its
    // version.
    let mentioned = dependency.and_then(|dependency| dependency.split(' ').nth(1));
    let version = mentioned.or_else(|| find(name)?.get("version")?.as_str());
    Ok(version.with_context(|| format!("cargo doesn't lock {name}, though it was asked for"))?.to_owned())
}

/// Finds a program's folder beside the guide's: cargo unpacks a program without a library, but does
/// not list it.
fn folder(metadata: &Metadata, name: &str, version: &str) -> Option<PathBuf> {
    let folders = metadata.packages.iter().filter_map(|package| package.manifest.parent());
    let places = folders.filter_map(Path::parent);
    let mut candidates = places.flat_map(|place| [place.join(format!("{name}-{version}")), place.join(name)]);
    candidates.find(|folder| is_package(folder, name, version))
}

fn is_package(folder: &Path, name: &str, version: &str) -> bool {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default().parse::<DocumentMut>();
    let package = manifest.as_ref().ok().and_then(|manifest| manifest.get("package"));
    let says = |key, expected| package.and_then(|package| package.get(key)?.as_str()) == Some(expected);
    says("name", name) && says("version", version)
}

fn write_asking_package(folder: &Path, name: &str, requirement: &str, tokio: Option<&str>) -> Result<PathBuf> {
    let mut manifest: DocumentMut = format!(
        "[package]\nname = \"{ASKING}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n\
         [workspace]\n"
    )
    .parse()?;
    let guide = tokio.map(|version| (GUIDE, format!("={version}")));
    for (name, requirement) in guide.into_iter().chain([(name, requirement.to_owned())]) {
        manifest["dependencies"][name]["version"] = value(requirement);
        manifest["dependencies"][name]["default-features"] = value(false);
    }
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest.to_string())?;
    fs::write(folder.join("lib.rs"), "")?;
    Ok(path)
}

/// Whether exactly one version meets the requirement, so that the registry can't have a newer one.
fn is_exact(requirement: &str) -> bool {
    let whole = |version: &Comparator| version.op == Op::Exact && version.patch.is_some();
    VersionReq::parse(requirement).is_ok_and(|requirement| requirement.comparators.iter().any(whole))
}

fn metadata(cargo: &Cargo, manifest: &Path, is_exact: bool) -> Result<Metadata> {
    let manifest = path_text(manifest)?;
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", HOST, "--manifest-path", manifest];
    let output = if is_exact { cargo.run_offline_first(&arguments) } else { cargo.run_network_first(&arguments) }?;
    Metadata::parse(&output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_version_may_be_taken_from_what_was_downloaded_before() {
        assert!(is_exact("=1.2.3") && is_exact("=1.2.3-rc.1"));
        for requirement in ["*", "1.2.3", "^1.2", "=1.2", ">=1.2.3", "nonsense"] {
            assert!(!is_exact(requirement), "{requirement}");
        }
    }

    #[test]
    fn a_program_that_wants_a_newer_tokio_is_passed_over_and_known() {
        let cargo = Cargo::from_env(false);
        // Any package will do whose newest version needs a newer tokio than this old one.
        let chosen = newest_beside(&cargo, "tokio-util", "0.7", Some("1.28.2")).unwrap();
        let newer = newer(&cargo, "tokio-util", "0.7", &chosen).unwrap().expect("it asks for a newer tokio by now");
        assert!(newer.parse::<Version>().unwrap() > chosen.parse().unwrap(), "{newer} after {chosen}");
        assert_eq!(super::newer(&cargo, "tokio-util", "0.7", &newer).unwrap(), None);
        assert_eq!(super::newer(&cargo, "tokio-util", "=0.7.4", "0.7.4").unwrap(), None);
    }
}
