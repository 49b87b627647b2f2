//! Gets tokio's package, and checks that it is the expected one.
//!
//! Cargo compares a checksum when it downloads the package. The unpacked files are checked too,
//! because they have been in a writable folder since then.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::{VERSION, tree};
use crate::cargo::Cargo;
use crate::package;

/// The SHA-256 of the package in the registry.
pub const CHECKSUM: &str = "b52fd3255258d26fac7264ab5a76b53c13367136dc011d3d6ad4f8ed070396a3";

/// The digest of the unpacked files in [`USED`].
pub(super) const TREE: &str = "0372e4361ca78e1dea4933a1fca0ca1be531c8d1ae807b61451bdbe4766631bd";

/// The parts of the package that are read: its code for `tokio-real`, its tests for the conformance
/// run.
const USED: [&str; 4] = ["Cargo.toml", "LICENSE", "src", "tests"];

/// Returns the folder of tokio's unpacked package. Cargo downloads the package if necessary, and
/// the files are checked.
///
/// # Errors
///
/// If cargo can't get the package, or if the package differs from the expected one.
pub fn package_folder(cargo: &Cargo) -> Result<PathBuf> {
    let unpacked = package::download(cargo, "tokio", &format!("={VERSION}"))?;
    check_recorded(&unpacked.lock)?;
    check_unpacked(&unpacked.folder)?;
    Ok(unpacked.folder)
}

/// Cargo compares each download with this line of the lock file.
fn check_recorded(lock: &str) -> Result<()> {
    let lock: toml_edit::DocumentMut = lock.parse()?;
    let packages = lock["package"].as_array_of_tables().context("a lock file without packages")?;
    let recorded = packages
        .iter()
        .find(|package| package["name"].as_str() == Some("tokio"))
        .and_then(|package| package.get("checksum")?.as_str());
    match recorded {
        Some(CHECKSUM) => Ok(()),
        Some(other) => bail!("the registry's tokio {VERSION} has the checksum {other}, not {CHECKSUM}"),
        None => bail!(
            "tokio {VERSION} comes from a source without checksums, not from a registry; is it patched, or its source \
             replaced by a path, in cargo's configuration?"
        ),
    }
}

fn check_unpacked(folder: &Path) -> Result<()> {
    let found = tree::digest(folder, &USED)?;
    ensure!(
        found == TREE,
        "the files in {} are not those of tokio {VERSION} (their digest is {found}, not {TREE}); remove that folder, so \
         that cargo unpacks the package again",
        folder.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lock(checksum: &str) -> String {
        format!("version = 4\n\n[[package]]\nname = \"tokio\"\nversion = \"{VERSION}\"\n{checksum}\n")
    }

    #[test]
    fn another_checksum_is_refused_by_name() {
        assert!(check_recorded(&lock(&format!("checksum = \"{CHECKSUM}\""))).is_ok());
        let error = check_recorded(&lock("checksum = \"beef\"")).unwrap_err().to_string();
        assert!(error.contains("beef") && error.contains(CHECKSUM), "{error}");
        let error = check_recorded(&lock("")).unwrap_err().to_string();
        assert!(error.contains("source without checksums"), "{error}");
    }

    #[test]
    fn one_changed_byte_is_noticed() {
        let genuine = package_folder(&Cargo::from_env(false)).unwrap();
        let altered = tempfile::tempdir().unwrap();
        for entry in USED {
            let from = genuine.join(entry);
            let to = altered.path().join(entry);
            if from.is_dir() {
                tree::copy(&from, &to).unwrap();
            } else {
                fs::copy(from, to).unwrap();
            }
        }
        check_unpacked(altered.path()).unwrap();
        let file = altered.path().join("src/lib.rs");
        fs::write(&file, fs::read_to_string(&file).unwrap() + " ").unwrap();
        let error = check_unpacked(altered.path()).unwrap_err().to_string();
        assert!(error.contains("are not those of tokio 1.54.1"), "{error}");
    }
}
