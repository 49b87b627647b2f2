//! `cargo gmp doctor`: reports problems before anything is compiled.

use std::fs;
use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::configuration::{self, Setting};
use crate::project::Project;
use crate::run;
use crate::tokio_real::VERSION;
use crate::tokios::Tokios;

/// The result of one check.
enum Finding {
    Fine(String),
    Wrong(String),
}

use Finding::{Fine, Wrong};

/// Prints one line for each check. The exit code is a failure if any check found a problem.
pub(crate) fn doctor(arguments: &Arguments) -> Result<ExitCode> {
    let findings = examine(arguments)?;
    for finding in &findings {
        match finding {
            Fine(text) => println!("ok       {text}"),
            Wrong(text) => println!("problem  {}", text.replace('\n', "\n         ")),
        }
    }
    let is_well = findings.iter().all(|finding| matches!(finding, Fine(_)));
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine(arguments: &Arguments) -> Result<Vec<Finding>> {
    let cargo = Cargo::from_env(arguments.offline);
    let mut findings = vec![cargo_version(&cargo)];
    let project = Project::find(&cargo, arguments)?;
    let here = project.current_directory()?;
    findings.push(unstable(&configuration::flags(&here)?));
    findings.push(target(arguments, &configuration::targets(&here)?));
    findings.extend(graph(&cargo, &project, arguments));
    Ok(findings)
}

fn cargo_version(cargo: &Cargo) -> Finding {
    let version = cargo.lockfile_option().and_then(|_| cargo.version());
    match version {
        Ok(version) => Fine(format!("cargo {version}")),
        Err(error) => Wrong(format!("{error:#}")),
    }
}

fn unstable(flags: &[Setting]) -> Finding {
    match flags.iter().find(|flags| flags.text.contains("tokio_unstable")) {
        None => Fine("tokio_unstable is not set".to_owned()),
        Some(flags) => Fine(format!("tokio_unstable is set by {}; gmp has what it adds", flags.place)),
    }
}

fn target(arguments: &Arguments, configured: &[Setting]) -> Finding {
    let given = arguments
        .target
        .as_ref()
        .map(|target| Setting { text: target.to_string_lossy().into_owned(), place: "the option --target".to_owned() });
    match given.as_ref().or(configured.first()) {
        None => Fine(format!("this machine is {}", std::env::consts::OS)),
        Some(target) if is_unix(&target.text) => Fine(format!("the target is {}", target.text)),
        Some(target) => {
            Wrong(format!("the target is {} (by {}); gmp runs on Linux and other Unix", target.text, target.place))
        }
    }
}

pub(crate) fn is_unix(target: &str) -> bool {
    !["windows", "wasm", "none", "uefi", "sgx", "hermit"].iter().any(|other| target.contains(other))
}

fn graph(cargo: &Cargo, project: &Project, arguments: &Arguments) -> Vec<Finding> {
    match examine_graph(cargo, project, arguments) {
        Ok(findings) => findings,
        Err(error) => vec![Wrong(format!("{error:#}"))],
    }
}

fn examine_graph(cargo: &Cargo, project: &Project, arguments: &Arguments) -> Result<Vec<Finding>> {
    let patched = run::patched(cargo, project, arguments)?;
    let tokios = Tokios::read(&fs::read_to_string(patched.lock_file())?)?;
    let mut findings = vec![Fine(format!("gmp's sources are in {}", patched.drop_in().display()))];
    if tokios.is_empty() {
        findings.push(Wrong("nothing in this workspace depends on tokio".to_owned()));
        return Ok(findings);
    }
    findings.extend(tokios.older().map(|version| {
        Wrong(format!("tokio {version} is in the graph too; it is another library and keeps its own runtime"))
    }));
    findings.push(Fine(format!("every requirement on tokio 1 is met by {VERSION}")));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(text: &str) -> Setting {
        Setting { text: text.to_owned(), place: "a file".to_owned() }
    }

    #[test]
    fn unstable_flags_are_named_with_their_place() {
        let Fine(text) = unstable(&[setting("-C x"), setting("--cfg tokio_unstable")]) else { panic!("an obstacle") };
        assert!(text.starts_with("tokio_unstable is set by a file"), "{text}");
        let Fine(text) = unstable(&[setting("--cfg loom")]) else { panic!("an obstacle") };
        assert_eq!(text, "tokio_unstable is not set");
    }

    #[test]
    fn targets_are_told_apart() {
        for fine in ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-unknown-freebsd"] {
            assert!(is_unix(fine), "{fine}");
        }
        for wrong in ["x86_64-pc-windows-msvc", "wasm32-wasip1", "thumbv7em-none-eabi"] {
            assert!(!is_unix(wrong), "{wrong}");
        }
        let none = Arguments::default();
        let Wrong(text) = target(&none, &[setting("wasm32-wasip1")]) else { panic!("not noticed") };
        assert_eq!(text, "the target is wasm32-wasip1 (by a file); gmp runs on Linux and other Unix");
    }
}
