//! Finds the drop-in's sources.
//!
//! In a checkout of gmp this command uses the checkout's sources, so that the next `cargo gmp run`
//! sees a change to gmp. It does so only if the checkout belongs to the user: another user that can
//! write to a folder above could put a checkout there, and `cargo gmp` would build and run it.
//! Elsewhere this binary extracts the sources that it carries into the user's cache folder, once
//! for each content, because the repository may no longer exist.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::geteuid;
use tempfile::TempDir;
use toml_edit::{Array, DocumentMut, Item, value};

use crate::cargo::{Cargo, succeeded};
use crate::tokio_real::manifest::silent;
use crate::tokio_real::{self, Outcome, tree};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Names the folder to use the sources of: the top of a checkout.
pub const VARIABLE: &str = "GMP_SOURCES";

/// The sources that the drop-in is built from.
#[derive(Clone, Debug)]
pub struct Sources {
    top: PathBuf,
}

impl Sources {
    /// The folder in `GMP_SOURCES` if that is set, else the user's checkout around the current
    /// folder, else the sources that this binary carries.
    ///
    /// # Errors
    ///
    /// If `GMP_SOURCES` names a folder that is not a checkout, or if the cache folder can't be
    /// written.
    pub fn find() -> Result<Self> {
        if let Some(top) = env::var_os(VARIABLE) {
            let top = PathBuf::from(top);
            ensure!(is_checkout(&top), "{VARIABLE} is {}, which is not a checkout of gmp", top.display());
            return Ok(Sources { top: top.canonicalize()? });
        }
        let here = env::current_dir().context("the current folder is gone")?;
        match here.ancestors().find(|folder| is_checkout(folder)) {
            Some(top) if is_trusted(top) => {
                eprintln!("note: gmp's sources are those around this folder, in {}", top.display());
                return Ok(Sources { top: top.to_owned() });
            }
            Some(top) => eprintln!(
                "note: the checkout of gmp in {} is not used, because others can write to it; {VARIABLE} could name it",
                top.display()
            ),
            None => {}
        }
        Ok(Sources { top: extracted()? })
    }

    /// The folder of the drop-in, package `tokio`.
    pub fn drop_in(&self) -> PathBuf {
        self.top.join("gmp-tokio")
    }

    /// Returns the drop-in's folder, ready for a build: with `tokio-real` generated, and with the
    /// drop-in's dependencies downloaded.
    ///
    /// # Errors
    ///
    /// If `tokio-real` can't be generated.
    pub fn ready(&self, cargo: &Cargo) -> Result<(PathBuf, Outcome)> {
        let drop_in = self.drop_in();
        let outcome = tokio_real::generate(&drop_in, cargo)?;
        if outcome == Outcome::Generated {
            // Downloads now for a later build without the network. If there is no network now, the
            // build reports that.
            let _ = download_dependencies(&drop_in, cargo);
        }
        Ok((drop_in, outcome))
    }
}

fn is_checkout(folder: &Path) -> bool {
    folder.join("gmp-tokio/Cargo.toml").is_file() && folder.join("gmp-exec/Cargo.toml").is_file()
}

/// Whether only this user can have put there the sources that are built and run. The owner of these
/// folders controls everything below them, unless the owner has given others write access.
fn is_trusted(top: &Path) -> bool {
    let folders = [top.to_owned(), top.join("gmp-tokio"), top.join("gmp-exec")];
    folders.iter().all(|folder| fs::metadata(folder).is_ok_and(|it| is_own(it.uid(), it.mode())))
}

fn is_own(owner: u32, mode: u32) -> bool {
    const WRITABLE_BY_EVERYBODY: u32 = 0o002;
    owner == geteuid().as_raw() && mode & WRITABLE_BY_EVERYBODY == 0
}

/// Fetches all dependencies of the drop-in for this machine's target, with every feature.
fn download_dependencies(drop_in: &Path, cargo: &Cargo) -> Result<()> {
    let asking = asking_package(drop_in)?;
    let manifest = asking.path().join("Cargo.toml");
    cargo.run_offline_first(&["fetch", "--target", HOST, "--manifest-path", path_text(&manifest)?])?;
    Ok(())
}

/// The lock file of the drop-in alone, with every feature.
pub(crate) fn lock_file(drop_in: &Path, cargo: &Cargo, offline: bool) -> Result<String> {
    let asking = asking_package(drop_in)?;
    let mut command = cargo.command();
    command.args(["generate-lockfile", "--manifest-path"]).arg(asking.path().join("Cargo.toml"));
    command.args(offline.then_some("--offline"));
    succeeded(cargo.output(&mut command)?)?;
    Ok(fs::read_to_string(asking.path().join("Cargo.lock"))?)
}

/// A package that depends on the drop-in, with every feature, and on nothing else.
fn asking_package(drop_in: &Path) -> Result<TempDir> {
    let asking = tempfile::tempdir()?;
    let mut manifest: DocumentMut = "[package]\nname = \"asks-for-gmp\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"lib.rs\"\n\n[workspace]\n"
        .parse()?;
    let features: Array = ["full", "test-util"].into_iter().collect();
    manifest["dependencies"]["tokio"]["path"] = value(path_text(drop_in)?);
    manifest["dependencies"]["tokio"]["features"] = value(features);
    fs::write(asking.path().join("Cargo.toml"), manifest.to_string())?;
    fs::write(asking.path().join("lib.rs"), "")?;
    Ok(asking)
}

/// The path as text, because manifests are text.
pub(crate) fn path_text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8, which a manifest must be", path.display()))
}

// ---- what the binary carries ----

fn extracted() -> Result<PathBuf> {
    let cache = cache_folder()?;
    let top = cache.join(DIGEST);
    // Checked before the lock, because a cache folder that has everything may be read-only.
    if top.exists() {
        return Ok(top);
    }
    fs::create_dir_all(&cache).with_context(|| format!("can't make {}", cache.display()))?;
    let lock = File::create(cache.join(".lock")).with_context(|| format!("can't write in {}", cache.display()))?;
    lock.lock()?;
    if !top.exists() {
        tree::remove_leftovers(&cache, ".tmp")?;
        let unfinished = tempfile::tempdir_in(&cache)?;
        write_files(unfinished.path())?;
        fs::rename(unfinished.keep(), &top)?;
    }
    Ok(top)
}

/// The user's cache folder, for files that can be made again.
pub(crate) fn cache_folder() -> Result<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let configured = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(absolute);
    match configured.or_else(|| Some(env::home_dir()?.join(".cache"))).filter(absolute) {
        Some(cache) => Ok(cache.join("gmp")),
        None => bail!("there is no place for gmp's sources: neither XDG_CACHE_HOME nor HOME names a folder"),
    }
}

fn write_files(top: &Path) -> Result<()> {
    for (name, contents) in FILES {
        let path = top.join(name);
        fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        fs::write(path, contents)?;
    }
    rewrite(&top.join("Cargo.toml"), |workspace| {
        // Only these members are carried.
        let members: Array = ["gmp-exec", "gmp-exec/insight", "gmp-exec/macros"].into_iter().collect();
        workspace["workspace"]["members"] = value(members);
        workspace["workspace"]["lints"] = Item::Table(silent());
        if let Some(table) = workspace["workspace"].as_table_mut() {
            table.remove("default-members");
        }
    })?;
    rewrite(&top.join("gmp-exec/Cargo.toml"), |executor| {
        // These tables are only for tests, models and sanitizers. Cargo would add the last one's
        // packages to the user's graph.
        executor.remove("dev-dependencies");
        executor.remove("target");
    })?;
    for package in ["gmp-tokio/Cargo.toml", "gmp-tokio/io/Cargo.toml"] {
        rewrite(&top.join(package), |manifest| manifest["lints"] = Item::Table(silent()))?;
    }
    Ok(())
}

pub(crate) fn rewrite(manifest: &Path, change: impl FnOnce(&mut DocumentMut)) -> Result<()> {
    let mut document: DocumentMut = fs::read_to_string(manifest)?.parse()?;
    change(&mut document);
    fs::write(manifest, document.to_string())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_carries_all_that_a_build_reads() {
        let names: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
        for folder in ["gmp-exec", "gmp-exec/insight", "gmp-exec/macros", "gmp-io", "gmp-tokio"] {
            let needed = format!("{folder}/src/lib.rs");
            assert!(names.contains(&needed.as_str()), "{needed} is not among {} files", names.len());
        }
        assert!(!names.iter().any(|name| name.contains("tokio-real")), "tokio's own code is not ours to carry");
    }

    #[test]
    fn the_carried_workspace_has_only_the_members_it_carries() {
        let top = tempfile::tempdir().unwrap();
        write_files(top.path()).unwrap();
        let manifest: DocumentMut = fs::read_to_string(top.path().join("Cargo.toml")).unwrap().parse().unwrap();
        for member in manifest["workspace"]["members"].as_array().unwrap() {
            assert!(top.path().join(member.as_str().unwrap()).join("Cargo.toml").is_file(), "{member}");
        }
    }

    #[test]
    fn what_is_carried_depends_on_nothing_that_is_for_tests_or_models() {
        let top = tempfile::tempdir().unwrap();
        write_files(top.path()).unwrap();
        let text = fs::read_to_string(top.path().join("gmp-exec/Cargo.toml")).unwrap();
        for name in ["dev-dependencies", "loom", "shuttle"] {
            assert!(!text.contains(name), "{name} is in {text}");
        }
    }

    #[test]
    fn what_is_carried_says_nothing_in_the_users_builds() {
        let top = tempfile::tempdir().unwrap();
        write_files(top.path()).unwrap();
        let parse = |name| -> DocumentMut { fs::read_to_string(top.path().join(name)).unwrap().parse().unwrap() };
        let workspace = parse("Cargo.toml")["workspace"].clone();
        for lints in
            [&workspace["lints"], &parse("gmp-tokio/Cargo.toml")["lints"], &parse("gmp-tokio/io/Cargo.toml")["lints"]]
        {
            assert_eq!(lints.to_string(), silent().to_string());
        }
    }
}
