//! Compiles the groups with cargo, and finds the binaries in cargo's output.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::package::Groups;
use crate::round::Round;
use crate::units;

/// A compiled group.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) path: PathBuf,
    /// The package's folder, in which cargo would run the binary.
    pub(crate) folder: PathBuf,
    /// The beginning that its tests' names get here. The binary itself doesn't know it.
    pub(crate) prefix: &'static str,
}

pub(crate) fn compile(groups: &Groups, round: Round) -> Result<Vec<Binary>, String> {
    println!("compiling {} files of tokio's tests, in {} binaries", groups.files, groups.names.len());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&groups.folder);
    // Both packages are named even if only one is needed: their shared dependencies are then
    // compiled once, with the features that both need.
    cargo.args(["build", "-p", "tokio", "--features", round.features()]);
    if round.has_units() {
        cargo.args(["-p", units::GROUP]);
    }
    cargo.args(["--message-format", "json-render-diagnostics"]);
    for group in &groups.names {
        cargo.args(["--test", group]);
    }
    // tokio's own switch leaves out tests that depend on tokio's tuning and not on the executor's
    // design. Warnings about tokio's tests don't matter here.
    cargo.env("RUSTFLAGS", format!("{} --cfg tokio_no_tuning_tests -A warnings", round.rustflags()));
    cargo.env("CARGO_TARGET_DIR", round.target_folder());
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo build: {error}"))?;
    if !output.status.success() {
        return Err("tokio's tests do not compile against the drop-in".to_owned());
    }
    let found = executables(&String::from_utf8_lossy(&output.stdout));
    groups
        .names
        .iter()
        .map(|group| {
            let path = found.get(group).ok_or(format!("cargo does not say where the binary of {group} is"))?;
            let prefix = if group == units::GROUP { units::PREFIX } else { "" };
            Ok(Binary { path: path.clone(), folder: groups.folder.clone(), prefix })
        })
        .collect()
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
