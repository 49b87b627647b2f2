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
pub(crate) mod instrumentation;
pub(crate) mod manifest;
pub mod origin;
mod reads;
pub(crate) mod tree;
mod waits;

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use hmac_sha256::Hash as Sha256;

use crate::cargo::Cargo;
use crate::digest;

/// The version of tokio that the edits and the drop-in are made for.
pub const VERSION: &str = "1.54.1";

/// The name of the generated package and of its folder.
pub const NAME: &str = "tokio-real";

/// The file with the fingerprint of the inputs that the folder was made from.
const STAMP: &str = ".generated";

/// The beginning of the names of unfinished folders.
const UNFINISHED: &str = ".tokio-real-";

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
/// If tokio's package is not available or differs from the expected one, or if an edit doesn't
/// match.
pub fn generate(gmp_tokio: &Path, cargo: &Cargo) -> Result<Outcome> {
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

/// A digest of everything that the result depends on.
fn fingerprint() -> String {
    let mut hash = Sha256::new();
    let edits = edits::all().flat_map(|edit| [edit.file, edit.find, edit.replace]);
    for part in [VERSION, origin::TREE, manifest::REVISION, instrumentation::REVISION].into_iter().chain(edits) {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    digest::hex(&hash.finalize())
}
