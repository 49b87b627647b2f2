//! Tries a program's `--help` and its script.

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gmp_conformance::single::{self, Outcome};

use super::list::Program;
use crate::build::{Built, Executor};
use crate::unpack::remove_if_there;
use crate::work;

/// The commands that all scripts share.
const PRELUDE: &str = include_str!("prelude.sh");

/// A limit that no script reaches, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(180);

/// Whether each binary prints a text for `--help` and succeeds.
pub(crate) fn help(built: &Built) -> bool {
    built.binaries.iter().all(|(name, binary)| {
        let output = Command::new(binary).arg("--help").stdin(Stdio::null()).output();
        let is_right = output
            .is_ok_and(|output| output.status.success() && !(output.stdout.is_empty() && output.stderr.is_empty()));
        if !is_right {
            eprintln!("gmp-crates: {name} --help fails");
        }
        is_right
    })
}

/// Whether the program's script succeeds. If the script fails, its folder is kept.
pub(crate) fn used(program: &Program, built: &Built, executor: Executor) -> bool {
    let folder = work().join(format!("use-{}", program.name));
    let outcome = prepare(built, &folder).and_then(|command| run(program, command, &folder, executor));
    match outcome {
        Ok(()) => {
            let _ = fs::remove_dir_all(&folder);
            true
        }
        Err(message) => {
            eprintln!(
                "gmp-crates: {}: its use on {executor:?} fails, see {}: {message}",
                program.name,
                folder.display()
            );
            false
        }
    }
}

/// A shell in an empty folder, with the program's binaries on its path.
fn prepare(built: &Built, folder: &Path) -> Result<Command, String> {
    let (here, binaries) = (folder.join("here"), folder.join("bin"));
    let make = || {
        remove_if_there(folder)?;
        fs::create_dir_all(&here)?;
        fs::create_dir_all(&binaries)?;
        built.binaries.iter().try_for_each(|(name, binary)| symlink(binary, binaries.join(name)))
    };
    make().map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut shell = Command::new("bash");
    shell.current_dir(&here).env("PATH", path(&binaries)).env("HOME", &here);
    Ok(shell)
}

fn path(first: &Path) -> OsString {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(PathBuf::from(first)).chain(std::env::split_paths(&others));
    std::env::join_paths(all).unwrap_or(others)
}

fn run(program: &Program, mut shell: Command, folder: &Path, executor: Executor) -> Result<(), String> {
    for (name, port) in ["PORT", "PORT2", "PORT3"].into_iter().zip(free_ports()?) {
        shell.env(name, port.to_string());
    }
    if executor == Executor::Gmp {
        shell.env("GMP_DEBUG", "schedtrace=1");
    }
    shell.args(["-eu", "-o", "pipefail", "-c", &format!("{PRELUDE}\n{}", program.script)]);
    match single::run(&mut shell, DEADLINE) {
        Outcome::Passed if executor == Executor::Tokio || folder.join("here/on-gmp").exists() => Ok(()),
        Outcome::Passed => Err("the script has not looked for gmp's trace".to_owned()),
        Outcome::Failed(printed) => Err(printed),
        _ => Err("it takes too long".to_owned()),
    }
}

/// Three different ports that are free now.
fn free_ports() -> Result<[u16; 3], String> {
    let bind = || TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"));
    let listeners = [bind()?, bind()?, bind()?];
    Ok(listeners.map(|listener| listener.local_addr().map_or(0, |address| address.port())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a script. Programs of the system take the place of the published one.
    fn outcome(name: &str, script: &str, executor: Executor) -> bool {
        let quoted = format!("name = \"{name}\"\nversion = \"1.0.0\"\ndoes = \"a\"\nscript = '''{script}'''");
        let program = toml::from_str(&quoted).unwrap();
        let outcome = used(&program, &Built::default(), executor);
        let _ = fs::remove_dir_all(work().join(format!("use-{name}")));
        outcome
    }

    const TRACED: &str = "start it sh -c 'echo SCHED 0ms >&2; exec sleep 60'";

    #[test]
    fn a_script_that_stops_a_program_on_gmp_succeeds() {
        assert!(outcome("test-1", &format!("{TRACED}\nstop it 130"), Executor::Gmp));
    }

    #[test]
    fn a_script_that_fails_or_leaves_gmp_out_fails() {
        assert!(!outcome("test-2", &format!("{TRACED}\nstop it 0"), Executor::Gmp));
        assert!(!outcome("test-3", &format!("{TRACED}\non_gmp it\nfalse"), Executor::Gmp));
        assert!(!outcome("test-4", "true", Executor::Gmp));
        assert!(!outcome("test-5", "traced it sh -c 'echo nothing'", Executor::Gmp));
    }

    #[test]
    fn on_tokio_there_is_no_trace() {
        assert!(outcome(
            "test-6",
            "start it sh -c 'touch ready; exec sleep 60'\neventually test -e ready\nstop it 130",
            Executor::Tokio
        ));
    }
}
