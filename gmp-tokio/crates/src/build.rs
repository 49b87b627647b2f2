//! Compiles a package's tests, on tokio or on gmp.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::list::Package;
use crate::unpack::Unpacked;
use crate::{drop_in, work};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executor {
    Tokio,
    Gmp,
}

/// The result of a build.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The test binaries by name. The binary of the library's own tests is called `src`.
    pub(crate) binaries: BTreeMap<String, PathBuf>,
    /// The names of the targets that don't compile. The library itself may be among them.
    pub(crate) failed: BTreeSet<String>,
    /// Cargo's messages.
    pub(crate) messages: String,
    /// The notes of `cargo gmp`, one per line.
    pub(crate) notes: Vec<String>,
    /// The origin of each tokio in the graph, as cargo names packages.
    tokios: BTreeSet<String>,
}

impl Built {
    /// Whether the graph has a tokio, and only the one that belongs to `executor`.
    pub(crate) fn is_on(&self, executor: Executor) -> bool {
        let origin = if executor == Executor::Tokio { "registry+" } else { "path+" };
        !self.tokios.is_empty() && self.tokios.iter().all(|tokio| tokio.starts_with(origin))
    }
}

pub(crate) fn build(package: &Package, unpacked: &Unpacked, executor: Executor) -> Result<Built, String> {
    let mut cargo = command(executor)?;
    cargo.current_dir(&unpacked.folder);
    cargo.args(["build", "--tests", "--keep-going", "--message-format", "json"]);
    if !package.features.is_empty() {
        cargo.arg("--features").arg(package.features.join(","));
    }
    cargo.args(&package.arguments);
    cargo.env("RUSTFLAGS", flags(&package.cfgs));
    run(&mut cargo, true)
}

/// Lints that are newer than the package must not fail the build.
fn flags(cfgs: &[String]) -> String {
    cfgs.iter().fold("--cap-lints allow".to_owned(), |flags, cfg| flags + " --cfg " + cfg)
}

/// Runs a build that prints JSON messages, and returns the tests or programs that it made.
pub(crate) fn run(cargo: &mut Command, tests: bool) -> Result<Built, String> {
    // All packages share one folder, so that common dependencies are compiled once. Debug
    // information and incremental compilation are off to keep the folder small.
    cargo.env("CARGO_TARGET_DIR", work().join("target"));
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    let output = cargo.stderr(Stdio::piped()).output().map_err(|error| format!("cargo: {error}"))?;
    let mut built = read(&String::from_utf8_lossy(&output.stdout), tests);
    let said = String::from_utf8_lossy(&output.stderr);
    built.notes = said.lines().filter_map(|line| line.strip_prefix("note: ")).map(str::to_owned).collect();
    if !output.status.success() {
        built.messages += &said;
    }
    Ok(built)
}

/// The command that builds: cargo, or `cargo gmp`.
pub(crate) fn command(executor: Executor) -> Result<Command, String> {
    if executor == Executor::Tokio {
        return Ok(Command::new(env!("CARGO")));
    }
    let beside = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("cargo-gmp");
    if !beside.exists() {
        return Err("there is no cargo-gmp yet: cargo build -p cargo-gmp".to_owned());
    }
    let mut command = Command::new(beside);
    command.arg("gmp").env("GMP_SOURCES", drop_in().join(".."));
    Ok(command)
}

/// Reads cargo's messages. The binaries are tests or programs.
fn read(printed: &str, tests: bool) -> Built {
    let mut built = Built::default();
    for message in printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        built.tokios.extend(message["package_id"].as_str().filter(|id| id.contains("#tokio@")).map(str::to_owned));
        let name = name(&message["target"]);
        let is_wanted = message["profile"]["test"] == tests;
        if let Some(path) = message["executable"].as_str().filter(|_| is_wanted) {
            built.binaries.insert(name, PathBuf::from(path));
        } else if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
            built.failed.insert(name);
            built.messages += message["message"]["rendered"].as_str().unwrap_or_default();
        }
    }
    built
}

fn name(target: &Value) -> String {
    let kinds = target["kind"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let is_library = kinds.into_iter().any(|kind| kind.ends_with("lib") || kind == "proc-macro");
    if is_library { "src".to_owned() } else { target["name"].as_str().unwrap_or_default().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_tokio_it_is_is_in_the_messages() {
        let on = |ids: &[&str]| {
            let lines = ids.iter().map(|id| format!("{{\"package_id\":\"{id}\"}}\n"));
            let built = read(&lines.collect::<String>(), true);
            [Executor::Tokio, Executor::Gmp].map(|executor| built.is_on(executor))
        };
        assert_eq!(on(&["registry+r#tokio@1.54.1", "path+p#tokio-util@0.7.0"]), [true, false]);
        assert_eq!(on(&["path+p#tokio@1.54.1"]), [false, true]);
        assert_eq!(on(&["path+p#tokio@1.54.1", "registry+r#tokio@0.2.0"]), [false, false]);
        assert_eq!(on(&[]), [false, false]);
    }

    #[test]
    fn cfgs_are_flags_of_the_compiler() {
        assert_eq!(flags(&[]), "--cap-lints allow");
        assert_eq!(flags(&["a".to_owned(), "b".to_owned()]), "--cap-lints allow --cfg a --cfg b");
    }

    #[test]
    fn binaries_and_failures_are_in_the_messages() {
        let printed = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"a"},"profile":{"test":true},"executable":"/a"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"b"},"profile":{"test":false},"executable":"/b"}
{"reason":"compiler-message","target":{"kind":["test"],"name":"c"},"message":{"level":"error","rendered":"no"}}
{"reason":"compiler-message","target":{"kind":["test"],"name":"d"},"message":{"level":"warning","rendered":"hm"}}"#;
        let built = read(printed, true);
        assert_eq!(built.binaries, BTreeMap::from([("src".to_owned(), PathBuf::from("/a"))]));
        assert_eq!((built.failed, &*built.messages), (BTreeSet::from(["c".to_owned()]), "no"));
        assert_eq!(read(printed, false).binaries, BTreeMap::from([("b".to_owned(), PathBuf::from("/b"))]));
    }
}
