//! Unpacks a program's package as it was published, into a folder where it can be built.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cargo_gmp::cargo::Cargo;
use cargo_gmp::package;

use super::list::Program;
use super::lock;
use crate::unpack::{copy, remove_if_there};
use crate::work;

#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) folder: PathBuf,
    pub(crate) version: String,
    /// The version of tokio in the program's own lock file.
    pub(crate) tokio: String,
    /// The program's own lock file.
    pub(crate) lock: String,
}

pub(crate) fn unpack(program: &Program) -> Result<Unpacked, String> {
    let cargo = Cargo::from_env(false);
    let found = package::download(&cargo, &program.name, &format!("={}", program.version));
    let found = found.map_err(|error| format!("{error:#}"))?;
    let folder = work().join(&program.name);
    let copied = remove_if_there(&folder).and_then(|()| copy(&found.folder, &folder));
    copied.and_then(|()| make_workspace(&folder)).map_err(|error| format!("{}: {error}", folder.display()))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"));
    let lock = lock.map_err(|error| format!("it was published without a lock file: {error}"))?;
    let tokio = lock::tokio(&lock)?;
    Ok(Unpacked { folder, version: found.version, tokio, lock })
}

/// Makes the package a workspace, because cargo would otherwise take it for a member of the
/// workspace around it.
fn make_workspace(folder: &Path) -> io::Result<()> {
    let path = folder.join("Cargo.toml");
    let manifest = fs::read_to_string(&path)?;
    if manifest.lines().any(|line| line.starts_with("[workspace")) {
        return Ok(());
    }
    fs::write(path, manifest + "\n[workspace]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_becomes_a_workspace_once() {
        let folder = std::env::temp_dir().join(format!("gmp-programs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let manifest = folder.join("Cargo.toml");
        fs::write(&manifest, "[package]\n").unwrap();
        for _ in 0..2 {
            make_workspace(&folder).unwrap();
            assert_eq!(fs::read_to_string(&manifest).unwrap(), "[package]\n\n[workspace]\n");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
