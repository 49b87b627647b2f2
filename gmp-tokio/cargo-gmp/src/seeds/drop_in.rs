//! The drop-in with its feature `seeded`.
//!
//! No option of cargo's switches on a feature of a package that is a dependency of dependencies. So the
//! patch leads to another manifest, with the same sources, that asks for the feature. The lock file is
//! the same, because the feature brings no packages. Crates that don't depend on tokio are shared with
//! other builds, and those that do are kept beside these by cargo.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::sources::path_text;

/// Writes the manifest into `folder`, unless it is there already.
pub(super) fn write(drop_in: &Path, folder: &Path) -> Result<PathBuf> {
    let original = drop_in.join("Cargo.toml");
    let text = fs::read_to_string(&original).with_context(|| format!("can't read {}", original.display()))?;
    let text = manifest(&text, drop_in)?;
    let path = folder.join("Cargo.toml");
    // A newer file would make cargo compile again.
    if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
        fs::create_dir_all(folder)?;
        // Another process may read the old one.
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.persist(&path).with_context(|| format!("can't write {}", path.display()))?;
    }
    Ok(folder.to_owned())
}

fn manifest(original: &str, drop_in: &Path) -> Result<String> {
    let mut manifest: DocumentMut = original.parse()?;
    let dependencies = manifest["dependencies"].as_table_like_mut().context("the drop-in has dependencies")?;
    for (_, dependency) in dependencies.iter_mut() {
        if let Some(path) = dependency.get("path").and_then(Item::as_str) {
            dependency["path"] = value(path_text(&drop_in.join(path))?);
        }
    }
    let features = manifest["dependencies"]["gmp-exec"]["features"].as_array_mut();
    features.context("the drop-in chooses features of gmp-exec")?.push("seeded");
    manifest["lib"]["path"] = value(path_text(&drop_in.join("src/lib.rs"))?);
    // This folder is inside the user's workspace.
    manifest["workspace"] = Item::Table(Table::new());
    manifest.remove("profile");
    Ok(manifest.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_are_the_same_and_the_feature_is_on() {
        let original = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")).unwrap();
        let text = manifest(&original, Path::new("/gmp-tokio")).unwrap();
        let seeded: DocumentMut = text.parse().unwrap();
        let dependencies = &seeded["dependencies"];
        assert_eq!(dependencies["gmp-exec"]["path"].as_str(), Some("/gmp-tokio/../gmp-exec"));
        assert!(
            dependencies["gmp-exec"]["features"]
                .to_string()
                .contains("\"insight\", \"tokio-thread-names\", \"seeded\"")
        );
        assert_eq!(dependencies["tokio_real"]["path"].as_str(), Some("/gmp-tokio/tokio-real"));
        assert_eq!(seeded["lib"]["path"].as_str(), Some("/gmp-tokio/src/lib.rs"));
        assert!(seeded["workspace"].as_table().unwrap().is_empty());
        assert_eq!(
            seeded["features"]["full"].to_string(),
            original.parse::<DocumentMut>().unwrap()["features"]["full"].to_string()
        );
    }
}
