//! A package as the registry has it, downloaded and unpacked by cargo.
//!
//! Cargo is asked through a tiny package that depends on it, so whatever the user's configuration says about registries
//! (a mirror, a vendored folder, no network) holds.

use crate::cargo::Cargo;
use crate::sources::{HOST, path_text};
use crate::tokio_real::VERSION;
use anyhow::{Context, Result};
use cargo_metadata::semver::{Comparator, Op, VersionReq};
use cargo_metadata::{Metadata, MetadataCommand};
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, value};

/// The package that asks.
const ASKING: &str = "asks-for-a-package";

/// A library that is listed, from the same registry; it has been downloaded already.
const GUIDE: &str = "tokio";

/// An unpacked package.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// Cargo's own copy, not to be written to.
    pub(crate) folder: PathBuf,
    /// The lock file that records where it is from.
    pub(crate) lock: String,
}

/// Gets `name` in the newest version that meets `requirement`.
pub(crate) fn download(cargo: &Cargo, name: &str, requirement: &str) -> Result<Unpacked> {
    let asking = tempfile::tempdir()?;
    let manifest = write_asking_package(asking.path(), name, requirement)?;
    let metadata = metadata(cargo, &manifest, is_exact(requirement))
        .with_context(|| format!("can't get {name} {requirement} from the registry"))?;
    let lock = fs::read_to_string(asking.path().join("Cargo.lock"))?;
    let folder = folder(&metadata, name, &version(&lock, name)?);
    Ok(Unpacked { folder: folder.with_context(|| format!("cargo doesn't say where it has put {name}"))?, lock })
}

/// Which version cargo chose.
fn version(lock: &str, name: &str) -> Result<String> {
    let lock: DocumentMut = lock.parse()?;
    let packages: Vec<_> =
        lock.get("package").and_then(|list| list.as_array_of_tables()).into_iter().flatten().collect();
    let find = |name| packages.iter().find(|package| package["name"].as_str() == Some(name));
    let dependency = find(ASKING).and_then(|package| package.get("dependencies")?.get(0)?.as_str());
    // If a program depends on an older version of itself, each mention of it has its version.
    let mentioned = dependency.and_then(|dependency| dependency.split(' ').nth(1));
    let version = mentioned.or_else(|| find(name)?.get("version")?.as_str());
    Ok(version.with_context(|| format!("cargo doesn't lock {name}, though it was asked for"))?.to_owned())
}

/// Cargo unpacks a program without a library, but does not list it; it lies beside the guide.
fn folder(metadata: &Metadata, name: &str, version: &str) -> Option<PathBuf> {
    let folders = metadata.packages.iter().filter_map(|package| Some(package.manifest_path.parent()?.as_std_path()));
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

fn write_asking_package(folder: &Path, name: &str, requirement: &str) -> Result<PathBuf> {
    let mut manifest: DocumentMut = format!(
        "[package]\nname = \"{ASKING}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n\
         [workspace]\n"
    )
    .parse()?;
    let guide = format!("={VERSION}");
    for (name, requirement) in [(GUIDE, guide.as_str()), (name, requirement)] {
        manifest["dependencies"][name]["version"] = value(requirement);
        manifest["dependencies"][name]["default-features"] = value(false);
    }
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest.to_string())?;
    fs::write(folder.join("lib.rs"), "")?;
    Ok(path)
}

/// Whether one version meets it and no other, so that there is no newer one to ask the registry for.
fn is_exact(requirement: &str) -> bool {
    let whole = |version: &Comparator| version.op == Op::Exact && version.patch.is_some();
    VersionReq::parse(requirement).is_ok_and(|requirement| requirement.comparators.iter().any(whole))
}

fn metadata(cargo: &Cargo, manifest: &Path, is_exact: bool) -> Result<Metadata> {
    let manifest = path_text(manifest)?;
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", HOST, "--manifest-path", manifest];
    let output = if is_exact { cargo.run_offline_first(&arguments) } else { cargo.run_network_first(&arguments) }?;
    Ok(MetadataCommand::parse(String::from_utf8(output.stdout)?)?)
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
}
