//! The package `tokio-real`: tokio's own code under another name, with a few edits for gmp's
//! executor.
//!
//! Under the patch, every package that asks for `tokio` gets the drop-in. The drop-in can't ask for
//! the original under its own name (cargo calls that a cycle), and types such as `mpsc::Sender` and
//! traits such as `AsyncRead` must exist only once. So the original gets another name. It is made
//! from the package that cargo downloads anyway, because nothing of tokio's is copied into this
//! repository.
//!
//! The rule: the original is known to the byte ([`origin`]), and each edit matches exactly once
//! ([`edits`]), or as often as was counted (`instrumentation`). A fork was rejected (it would have
//! to be published and rebased), and so was a patch file (it matches approximately).

mod channels;
pub mod edits;
mod holders;
pub(crate) mod instrumentation;
pub(crate) mod manifest;
pub mod origin;
mod reads;
pub(crate) mod tree;
mod waits;

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, bail};
use hmac_sha256::Hash as Sha256;

use crate::cargo::Cargo;
use crate::digest;

/// The version of tokio that the edits and the drop-in are made for.
pub const VERSION: &str = "1.54.1";

/// The name of the generated package and of its folder.
pub const NAME: &str = "tokio-real";

/// The file with the fingerprint of the code that has made the folder.
const STAMP: &str = ".generated";

/// The beginning of the names of unfinished folders.
const UNFINISHED: &str = ".tokio-real-";

macro_rules! sources {
    ($($file:literal)*) => { &[$(($file, include_str!($file))),*] };
}

/// The files of this module. The result depends on nothing else.
const SOURCES: &[(&str, &str)] = sources![
    "channels.rs" "edits.rs" "holders.rs" "instrumentation.rs" "manifest.rs" "mod.rs" "origin.rs" "reads.rs" "tree.rs" "waits.rs"
];

/// The result of [`generate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The folder was up to date.
    Fresh,
    /// The folder was made for the first time or again.
    Generated,
}

/// Makes `tokio-real` in `gmp_tokio`, the folder of the drop-in, unless it exists and is current.
///
/// Any number of processes may call this at once: one generates the folder, and the others wait for
/// it. The folder is complete whenever it exists.
///
/// # Errors
///
/// If tokio's package is not available or differs from the expected one, if an edit doesn't match, or
/// if the drop-in is from a checkout with another generator.
pub fn generate(gmp_tokio: &Path, cargo: &Cargo) -> Result<Outcome> {
    check_origin(gmp_tokio)?;
    // Checked before the lock, because a folder in which `tokio-real` is current may be read-only.
    if is_fresh(gmp_tokio) {
        return Ok(Outcome::Fresh);
    }
    let lock_path = gmp_tokio.join(format!(".{NAME}.lock"));
    let lock = File::create(&lock_path).with_context(|| format!("can't write {}", lock_path.display()))?;
    lock.lock().with_context(|| format!("can't lock {}", lock_path.display()))?;

    if is_fresh(gmp_tokio) {
        return Ok(Outcome::Fresh);
    }
    tree::remove_leftovers(gmp_tokio, UNFINISHED)?;
    let package = origin::package_folder(cargo)?;
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(gmp_tokio)?;
    make(&package, unfinished.path())?;
    fs::write(unfinished.path().join(STAMP), fingerprint())?;
    put_in_place(unfinished, &gmp_tokio.join(NAME))?;
    Ok(Outcome::Generated)
}

/// The drop-in of another checkout may need a `tokio-real` with other edits, and would compile without
/// them: in seeded runs no future would yield.
fn check_origin(gmp_tokio: &Path) -> Result<()> {
    let folder = gmp_tokio.join("cargo-gmp/src/tokio_real");
    let differs = |(name, text): &&(&str, &str)| fs::read_to_string(folder.join(name)).is_ok_and(|it| it != *text);
    if let Some((name, _)) = SOURCES.iter().find(differs) {
        let (file, folder) = (folder.join(name), gmp_tokio.join("cargo-gmp"));
        let [file, folder] = [file.display(), folder.display()];
        bail!("this `cargo gmp` was not built from {file}: install it again with `cargo install --path {folder}`");
    }
    Ok(())
}

fn is_fresh(gmp_tokio: &Path) -> bool {
    fs::read_to_string(gmp_tokio.join(NAME).join(STAMP)).is_ok_and(|stamp| stamp == fingerprint())
}

fn make(package: &Path, to: &Path) -> Result<()> {
    tree::copy_file(&package.join("LICENSE"), &to.join("LICENSE"))?;
    tree::copy(&package.join("src"), &to.join("src"))?;
    edits::apply_all(to, edits::all())?;
    instrumentation::apply(to)?;
    let original = fs::read_to_string(package.join("Cargo.toml"))?;
    fs::write(to.join("Cargo.toml"), manifest::rewritten(&original)?)?;
    Ok(())
}

fn put_in_place(finished: tempfile::TempDir, folder: &Path) -> Result<()> {
    // The outdated folder is renamed before it is removed: removing takes a while, and a killed
    // process must not leave an incomplete folder under the final name.
    let outdated = finished.path().with_extension("outdated");
    if folder.exists() {
        fs::rename(folder, &outdated)?;
    }
    fs::rename(finished.keep(), folder)?;
    if outdated.exists() {
        fs::remove_dir_all(&outdated)?;
    }
    Ok(())
}

fn fingerprint() -> String {
    let mut hash = Sha256::new();
    for (_, text) in SOURCES {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    digest::hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_the_generator_are_known() {
        let files = tree::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tokio_real")).unwrap();
        assert_eq!(files, SOURCES.iter().map(|(name, _)| Path::new(name)).collect::<Vec<_>>());
    }
}
