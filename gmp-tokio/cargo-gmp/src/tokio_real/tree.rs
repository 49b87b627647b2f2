//! Copies folders, removes them, and digests them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hmac_sha256::Hash as Sha256;

use crate::digest;

/// Copies the folder `from` to `to`, which must not exist.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for file in files(from)? {
        let target = to.join(&file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        copy_file(&from.join(&file), &target)?;
    }
    Ok(())
}

/// Copies a file and makes the copy readable and writable. The original may be read-only, because
/// some users keep cargo's downloads in a read-only folder.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("can't copy {}", from.display()))?;
    let mode = fs::metadata(to)?.permissions().mode();
    Ok(fs::set_permissions(to, Permissions::from_mode(mode | 0o200))?)
}

/// Removes the entries of `folder` whose names begin with `prefix`: an interrupted process left
/// them. The caller holds the lock that every process holds while it makes such an entry.
pub(crate) fn remove_leftovers(folder: &Path, prefix: &str) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
            fs::remove_dir_all(entry.path()).with_context(|| format!("can't remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// The SHA-256 of the names and contents of `entries` (files and folders) in `root`.
pub(super) fn digest(root: &Path, entries: &[&str]) -> Result<String> {
    let mut hash = Sha256::new();
    for entry in entries {
        for name in names(root, Path::new(entry))? {
            let contents = fs::read(root.join(&name)).with_context(|| format!("can't read {}", name.display()))?;
            for part in [name.as_os_str().as_encoded_bytes(), &contents] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
        }
    }
    Ok(digest::hex(&hash.finalize()))
}

/// The file `entry` itself, or all files in the folder `entry`.
fn names(root: &Path, entry: &Path) -> Result<Vec<PathBuf>> {
    if root.join(entry).is_dir() {
        return Ok(files(&root.join(entry))?.iter().map(|file| entry.join(file)).collect());
    }
    Ok(vec![entry.to_owned()])
}

/// All files in `folder`, as sorted paths relative to it.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(inner) = pending.pop() {
        let path = folder.join(&inner);
        for entry in fs::read_dir(&path).with_context(|| format!("can't read {}", path.display()))? {
            let entry = entry?;
            let name = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() { pending.push(name) } else { found.push(name) }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_can_be_written_to_whatever_was_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("a"), "text").unwrap();
        fs::set_permissions(from.join("a"), fs::Permissions::from_mode(0o444)).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::metadata(to.join("a")).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "text");
    }
}
