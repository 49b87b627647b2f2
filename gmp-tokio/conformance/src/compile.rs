//! Compiles the groups with cargo, and finds the binaries in cargo's output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::options::Options;
use crate::package::Groups;
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

/// The binaries that the user names, which were compiled before.
pub(crate) fn named(options: &Options) -> Vec<Binary> {
    let folder = options.round.folder();
    let binary = |path: &PathBuf| Binary { path: path.clone(), folder: folder.clone(), prefix: prefix(group_of(path)) };
    options.binaries.iter().map(binary).collect()
}

pub(crate) fn compile(groups: &Groups, options: &Options) -> Result<Vec<Binary>, String> {
    let round = options.round;
    eprintln!("compiling {} files of tokio's tests, in {} binaries", groups.files, groups.names.len());
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
    if let Some(target) = &options.target {
        cargo.args(["--target", target]);
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
            Ok(Binary { path: path.clone(), folder: groups.folder.clone(), prefix: prefix(group) })
        })
        .collect()
}

/// cargo puts a hash behind the name of the group.
fn group_of(binary: &Path) -> &str {
    let name = binary.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('-').next().unwrap_or_default()
}

fn prefix(group: &str) -> &'static str {
    if group == units::GROUP { units::PREFIX } else { "" }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_binary_is_that_of_its_group() {
        let line = "--binary /deps/units-0123456789abcdef --binary rt-0123456789abcdef";
        let options = Options::parse(line.split(' ').map(str::to_owned)).unwrap();
        let prefixes: Vec<_> = named(&options).iter().map(|binary| binary.prefix).collect();
        assert_eq!(prefixes, [units::PREFIX, ""]);
    }
}
