//! Temporary projects, and `cargo gmp` in them.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A project in a temporary folder. Dropping the project removes the folder.
pub(crate) struct Project {
    folder: TempDir,
}

/// Variables of the test run that would affect the commands that the tests run.
const NOT_INHERITED: [&str; 7] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_TARGET",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "GMP_SEED",
    "GMP_SOURCES",
];

impl Project {
    /// A program that depends on tokio as `dependency` says, and doesn't use it.
    pub(crate) fn with_tokio(dependency: &str) -> Self {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        project.write("Cargo.toml", &manifest("app", &format!("tokio = {dependency}")));
        project.write("src/main.rs", "fn main() {}\n");
        project
    }

    /// The same program with its own tokio, in a folder of the project.
    pub(crate) fn with_own_tokio() -> Self {
        let project = Project::with_tokio("{ path = \"mine\" }");
        project.write_own_tokio("mine/");
        project
    }

    /// Writes a package that is called tokio but is another library.
    pub(crate) fn write_own_tokio(&self, folder: &str) {
        let manifest = "[package]\nname = \"tokio\"\nversion = \"1.60.0\"\nedition = \"2024\"\n";
        self.write(&format!("{folder}Cargo.toml"), manifest);
        self.write(&format!("{folder}src/lib.rs"), "");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes an executable file.
    pub(crate) fn write_script(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// `cargo gmp <line>`, to be started in the project's folder.
    pub(crate) fn gmp(&self, line: &str) -> Command {
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_cargo-gmp")), self.folder.path());
        command.arg("gmp").args(line.split_whitespace()).env("GMP_SOURCES", repository());
        command
    }

    /// `cargo <line>`, to be started in the project's folder.
    pub(crate) fn cargo(&self, line: &str) -> Command {
        let mut command = clean(Command::new(env!("CARGO")), self.folder.path());
        command.args(line.split_whitespace());
        command
    }

    /// Makes Cargo.lock.
    pub(crate) fn lock(&self) {
        // The packages that were downloaded before have to suffice if there is no network.
        if !self.cargo("generate-lockfile --offline").output().unwrap().status.success() {
            succeeds(&mut self.cargo("generate-lockfile"));
        }
    }
}

fn clean(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    for variable in NOT_INHERITED {
        command.env_remove(variable);
    }
    // Some commands ask the registry, which doesn't always answer.
    command.env("CARGO_NET_RETRY", "10");
    // The tests ask for lines only. With names of variables, gmp is compiled a third longer.
    command.env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    command
}

pub(crate) fn manifest(name: &str, dependencies: &str) -> String {
    format!(
        "# A comment.\n[package]\nname = \"{name}\" # the name\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependencies}\n"
    )
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the standard output of a command that must succeed.
pub(crate) fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Returns the error output of a command that must end with this exit code.
pub(crate) fn fails(command: &mut Command, code: i32) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!(status.code(), Some(code), "{command:?}\n{}\n{}", text(&stdout), text(&stderr));
    text(&stderr)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The target directory of all programs that are compiled, so that gmp is compiled once for them.
pub(crate) fn shared_target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs")
}

pub(crate) fn shared(mut command: Command) -> Command {
    command.env("CARGO_TARGET_DIR", shared_target());
    command
}

/// What programs that are compiled have of tokio. With other features than those of examples/faults, gmp
/// would be compiled once more, and so it would if examples/faults and examples/blocking-handler had other
/// versions of a crate that gmp depends on.
pub(crate) const TOKIO: &str = "{ version = \"1\", features = [\"io-util\", \"macros\", \"net\", \"rt-multi-thread\", \
                                \"sync\", \"time\"] }";

/// A program that uses tokio's runtime, with a lock file.
pub(crate) fn program(name: &str, main: &str) -> Project {
    let project = Project::with_tokio(TOKIO);
    // The package is named after the test, because the programs of all projects lie in one folder.
    project.write("Cargo.toml", &project.read("Cargo.toml").replace("\"app\"", &format!("\"{name}\"")));
    project.write("src/main.rs", main);
    project.lock();
    project
}

/// Writes a tool that cargo would find.
pub(crate) fn write_tool(project: &Project, name: &str, script: &str) {
    project.write_script(&format!("tools/cargo-{name}"), &format!("#!/bin/sh\n{script}\n"));
}

/// `cargo gmp <line>`, with these programs on the path.
pub(crate) fn with_tools(project: &Project, line: &str) -> Command {
    let mut command = shared(project.gmp(line));
    let folders = env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let all = [project.path("tools")].into_iter().chain(folders);
    command.env("PATH", env::join_paths(all).unwrap());
    command
}
