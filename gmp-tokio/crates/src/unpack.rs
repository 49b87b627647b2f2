//! Unpacks a package as it was published, into a folder where it can be built.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde_json::Value;

use crate::list::Package;
use crate::work;

#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) folder: PathBuf,
    pub(crate) version: String,
    /// The names of targets whose tests don't use libtest's harness.
    pub(crate) without_harness: Vec<String>,
}

pub(crate) fn unpack(package: &Package) -> Result<Unpacked, String> {
    let (source, version) = find(package)?;
    let folder = work().join(&package.name);
    let copied = remove_if_there(&folder).and_then(|()| copy(&source, &folder)).and_then(|()| {
        package.above.iter().try_for_each(|file| fs::copy(source.join(file), work().join(file)).map(drop))
    });
    copied.map_err(|error| format!("{}: {error}", folder.display()))?;
    let manifest = make_workspace(package, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    lock(package, &folder)?;
    Ok(Unpacked { folder, version, without_harness: without_harness(&manifest)? })
}

/// Lets cargo choose the version and fetch it.
fn find(package: &Package) -> Result<(PathBuf, String), String> {
    let folder = work().join("fetch");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"fetch-it\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{} = \"{}\"\n",
        package.name, package.version
    );
    let write = || {
        remove_if_there(&folder)?;
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fs::write(folder.join("Cargo.toml"), &manifest)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))?;
    let printed = cargo(&folder, &["metadata", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // The newest version is the requested one. The graph may have older packages of that name.
    let found = packages.filter(|found| found["name"] == *package.name);
    let found = found.max_by_key(|found| numbers(found["version"].as_str().unwrap_or_default()));
    let found = found.ok_or("cargo does not say where it is")?;
    let manifest = found["manifest_path"].as_str().ok_or("it has no manifest")?;
    let source = Path::new(manifest).parent().ok_or("its manifest is nowhere")?;
    Ok((source.to_owned(), found["version"].as_str().unwrap_or_default().to_owned()))
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// Runs cargo and returns its output.
fn cargo(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO")).current_dir(folder).args(arguments).output();
    let output = output.map_err(|error| format!("cargo: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("cargo {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim()))
}

pub(crate) fn remove_if_there(folder: &Path) -> io::Result<()> {
    if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) }
}

/// Copies the package, because tests may write into it, and the registry's copy must stay
/// unchanged.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
            let mode = fs::metadata(&target)?.permissions().mode();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode | 0o600))?;
        }
    }
    Ok(())
}

/// Makes the package a workspace in which the other packages that depend on it get this copy.
/// Returns the manifest.
fn make_workspace(package: &Package, folder: &Path) -> io::Result<String> {
    let path = folder.join("Cargo.toml");
    let manifest = fs::read_to_string(&path)?;
    let mut more = String::from("\n[workspace]\n");
    if package.patch {
        more += &format!("\n[patch.crates-io.{}]\npath = \".\"\n", package.name);
    }
    for (name, features) in &package.needs {
        // A package's own manifest is unlikely to have a table of this name.
        more += &format!("\n[target.'cfg(all())'.dev-dependencies.{name}]\nversion = \"*\"\nfeatures = {features:?}\n");
    }
    for (name, library) in &package.stand_ins {
        write_library(&folder.join("stand-ins").join(name), name, library)?;
        more += &format!("\n[target.'cfg(all())'.dev-dependencies.{name}]\npath = \"stand-ins/{name}\"\n");
    }
    fs::write(&path, manifest.clone() + &more)?;
    Ok(manifest)
}

fn write_library(folder: &Path, name: &str, library: &str) -> io::Result<()> {
    fs::create_dir_all(folder.join("src"))?;
    fs::write(
        folder.join("Cargo.toml"),
        format!("[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n"),
    )?;
    fs::write(folder.join("src/lib.rs"), library)
}

/// Both builds use the same lock file. The published lock file has the versions that the package's
/// authors used, often years ago.
fn lock(package: &Package, folder: &Path) -> Result<(), String> {
    if !package.keep_lock {
        let _ = fs::remove_file(folder.join("Cargo.lock"));
        cargo(folder, &["generate-lockfile"])?;
    }
    let precise = ["update", "tokio", "--precise", gmp_conformance::TOKIO];
    // An error is ignored here, because the build reports it.
    let _ = cargo(folder, &precise);
    Ok(())
}

fn without_harness(manifest: &str) -> Result<Vec<String>, String> {
    let manifest: toml::Table = toml::from_str(manifest).map_err(|error| format!("Cargo.toml: {error}"))?;
    let tests = manifest.get("test").and_then(toml::Value::as_array).into_iter().flatten();
    let own = tests.filter(|test| test.get("harness").and_then(toml::Value::as_bool) == Some(false));
    Ok(own.filter_map(|test| test.get("name")?.as_str()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(numbers("0.10.0") > numbers("0.9.12"));
        assert!(numbers("1.0.0-rc.1") <= numbers("1.0.0"));
    }

    #[test]
    fn a_library_that_was_never_published_is_stood_in_for() {
        let folder = std::env::temp_dir().join(format!("gmp-crates-{}", std::process::id()));
        write_library(&folder, "a", "").unwrap();
        let package = toml::from_str("name = \"a\"\npatch = false\nstand_ins = { b = \"pub fn c() {}\" }").unwrap();
        make_workspace(&package, &folder).unwrap();
        let metadata = cargo(&folder, &["metadata", "--format-version", "1", "--offline"]);
        fs::remove_dir_all(&folder).unwrap();
        let metadata: Value = serde_json::from_str(&metadata.unwrap()).unwrap();
        let names = metadata["packages"].as_array().unwrap().iter().map(|package| package["name"].as_str().unwrap());
        assert_eq!(names.collect::<std::collections::BTreeSet<_>>(), ["a", "b"].into());
    }

    #[test]
    fn programs_of_their_own_are_named_in_the_manifest() {
        let manifest = "[[test]]\nname = \"a\"\nharness = false\n[[test]]\nname = \"b\"\n";
        assert_eq!(without_harness(manifest).unwrap(), ["a"]);
    }
}
