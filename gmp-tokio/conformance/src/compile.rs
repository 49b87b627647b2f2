//! Compiles the groups and the unit tests with cargo, and finds the binaries in what it prints.

use crate::package::Groups;
use crate::source::drop_in;
use crate::units;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiled group, or the unit tests.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) group: String,
    pub(crate) path: PathBuf,
    /// The package's folder, where cargo would run it.
    pub(crate) folder: PathBuf,
    /// What its tests' names begin with here, though the binary doesn't know it.
    pub(crate) prefix: &'static str,
}

pub(crate) fn compile(groups: &Groups) -> Result<Vec<Binary>, String> {
    let mut binaries = Vec::new();
    if !groups.names.is_empty() {
        println!("compiling {} files of tokio's tests, in {} binaries", groups.files, groups.names.len());
        let targets = groups.names.iter().flat_map(|group| ["--test", group]);
        let found = build(&groups.folder, ["--features", "full,test-util"].into_iter().chain(targets))?;
        for group in &groups.names {
            binaries.push(binary(&found, group, &groups.folder, "")?);
        }
    }
    if let Some(folder) = &groups.units {
        println!("compiling the unit tests in tokio's source");
        let found = build(folder, ["--lib"])?;
        binaries.push(binary(&found, units::GROUP, folder, units::PREFIX)?);
    }
    Ok(binaries)
}

/// Compiles tests of the package in `folder`. Returns where the binaries are, by their targets' names.
fn build<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder);
    cargo.args(["test", "--no-run", "--message-format", "json-render-diagnostics"]).args(arguments);
    // What does not depend on the executor's design but on tokio's tuning is left out, by tokio's own switch. Warnings
    // about tokio's tests help nobody here.
    cargo.env("RUSTFLAGS", "--cfg tokio_no_tuning_tests -A warnings");
    // The units' package is a member of the other's workspace: both have one target folder.
    cargo.env("CARGO_TARGET_DIR", target_folder(&drop_in().join("conformance/work")));
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo test --no-run: {error}"))?;
    if !output.status.success() {
        return Err("tokio's tests do not compile against the drop-in".to_owned());
    }
    Ok(executables(&String::from_utf8_lossy(&output.stdout)))
}

fn binary(
    found: &BTreeMap<String, PathBuf>,
    group: &str,
    folder: &Path,
    prefix: &'static str,
) -> Result<Binary, String> {
    let path = found.get(group).ok_or(format!("cargo does not say where the binary of {group} is"))?;
    Ok(Binary { group: group.to_owned(), path: path.clone(), folder: folder.to_owned(), prefix })
}

/// A folder for these flags alone, so that nothing else is compiled anew for them.
pub(crate) fn target_folder(package: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => PathBuf::from(folder).join("conformance"),
        None => package.join("target"),
    }
}

fn executables(messages: &str) -> BTreeMap<String, PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages
        .filter_map(|message| {
            let path = message["executable"].as_str()?;
            Some((message["target"]["name"].as_str()?.to_owned(), PathBuf::from(path)))
        })
        .collect()
}
