//! `cargo gmp install`: installs a program from the registry on gmp.
//!
//! `cargo install` takes a patch from its command line, but keeps either all or nothing of the lock
//! file that a package was published with. With `--locked` tokio stays the registry's: cargo does
//! not use the patch, prints a warning, and installs the program all the same. Without `--locked`,
//! every crate gets a version that the program's authors have never seen.
//!
//! So this command copies the package into the user's cache folder and installs it from there, with
//! a lock file that is made as for any project: every package has the version that the program was
//! published with, except tokio and packages that the drop-in needs newer. The build folder is
//! removed afterwards, as cargo does, so this process waits for cargo instead of becoming cargo. If
//! the process is killed, the next one removes the build folder.

mod building;
mod request;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context, Result};
use toml_edit::{Item, Table};

use self::building::Building;
use self::request::{Request, Source};
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::tokio_real::{VERSION, tree};
use crate::tool::{exit_code, wait_for};
use crate::{package, run, sources};

pub(crate) const HELP: &str = "\
Installs a program on gmp. Every package but tokio has the version that the program was published with, as with
--locked.

Usage: cargo gmp install [options] <NAME>[@<VERSION>]
       cargo gmp install [options] --path <FOLDER>

Options:
  --version <VERSION>  the version, or a requirement on it (\"^1.2\"); without it: the newest
                       that doesn't want a newer tokio than gmp's
  --path <FOLDER>      installs the package in that folder
  --locked             with --path: fails if Cargo.lock is missing or out of date
  --offline            takes the newest version that was downloaded before

The others are those of `cargo install` (--root, --bin, --features, --debug, ...); not taken are --git, --index, --list
and --registry. Without --target-dir, what is built from a name goes away afterwards; after Ctrl-C, with the next install.
";

pub(crate) fn install(arguments: Vec<OsString>) -> Result<ExitCode> {
    let request = Request::parse(arguments)?;
    let mut arguments = Arguments { locked: request.locked, ..Arguments::parse(request.rest) };
    let cargo = Cargo::from_env(arguments.offline);
    let (name, version) = match request.from {
        Source::Folder(folder) => return install_from(&cargo, &folder, arguments),
        Source::Registry(name, version) => (name, version),
    };
    let package = package::download(&cargo, &name, &version)?;
    say_what_is_newer(&cargo, &name, &version, &package.version);
    let cache = sources::cache_folder()?;
    let folder = copy(&package.folder, &cache.join("packages"))?;
    if arguments.target_dir.is_some() || env::var_os("CARGO_TARGET_DIR").is_some() {
        return install_from(&cargo, &folder, arguments);
    }
    let building = Building::start(&cache)?;
    arguments.all.extend(["--target-dir".into(), building.folder().into()]);
    arguments.target_dir = Some(building.folder().to_owned());
    install_from(&cargo, &folder, arguments)
}

/// Tells the user if the newest version needs a newer tokio than the drop-in's.
fn say_what_is_newer(cargo: &Cargo, name: &str, requirement: &str, chosen: &str) {
    // The program can be installed without an answer to this question.
    if let Ok(Some(newer)) = package::newer(cargo, name, requirement, chosen) {
        eprintln!("note: {name} {newer} wants a newer tokio than gmp's {VERSION}; this is {name} {chosen}");
    }
}

/// Copies the package, because cargo's own copy must not be written to. The copy always has the
/// same path, by which cargo recognises earlier builds of the package. It is made elsewhere and
/// renamed, so that an existing copy is always complete.
fn copy(package: &Path, place: &Path) -> Result<PathBuf> {
    fs::create_dir_all(place).with_context(|| format!("can't make {}", place.display()))?;
    let folder = place.join(package.file_name().context("a package without a folder")?);
    if !folder.exists() {
        let unfinished = tempfile::tempdir_in(place)?;
        let copy = unfinished.path().join("copy");
        tree::copy(package, &copy)?;
        make_workspace(&copy.join("Cargo.toml"))?;
        // Another process may have renamed its copy first.
        fs::rename(copy, &folder).or_else(|error| if folder.exists() { Ok(()) } else { Err(error) })?;
    }
    Ok(folder)
}

/// Makes the package a workspace of its own. Otherwise cargo would take it for a member of a
/// workspace around the cache folder, and refuse the package because that workspace does not list
/// it. No published manifest says which workspace its package belongs to.
fn make_workspace(manifest: &Path) -> Result<()> {
    sources::rewrite(manifest, |manifest| {
        manifest.entry("workspace").or_insert(Item::Table(Table::new()));
    })
}

fn install_from(cargo: &Cargo, folder: &Path, mut arguments: Arguments) -> Result<ExitCode> {
    let mut all: Vec<OsString> = vec!["--path".into(), folder.into()];
    if !arguments.locked {
        // Without `--locked`, cargo would ignore the lock file.
        all.push("--locked".into());
    }
    all.append(&mut arguments.all);
    arguments.all = all;
    arguments.manifest_path = Some(folder.join("Cargo.toml"));
    let mut command = run::prepare(cargo, "install".as_ref(), &arguments)?;
    let status = wait_for(&mut command).context("can't start cargo")?;
    Ok(ExitCode::from(exit_code(status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_below_a_workspace_is_a_workspace_of_its_own() {
        let top = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("workspace/Cargo.toml", "[workspace]\nresolver = \"3\"\n");
        let package = "[package]\nname = \"server\"\nversion = \"1.0.0\"\n";
        for (version, workspace) in [("1.0.0", ""), ("1.0.1", "\n[workspace]\nexclude = [\"tests\"]\n")] {
            let name = format!("server-{version}");
            write(&format!("{name}/Cargo.toml"), &format!("{package}{workspace}"));
            write(&format!("{name}/src/main.rs"), "fn main() {}\n");
            let folder = copy(&top.path().join(&name), &top.path().join("workspace/cache")).unwrap();
            assert_eq!(folder, top.path().join("workspace/cache").join(&name));
            let mut command = Cargo::from_env(true).command();
            command.args(["metadata", "--offline", "--format-version=1"]).current_dir(&folder);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(fs::read_to_string(folder.join("Cargo.toml")).unwrap().contains(workspace));
        }
    }
}
