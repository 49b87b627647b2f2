//! How cargo starts the programs of `cargo test`: noted by the process that cargo starts in a program's
//! place, and read by the process that waits for cargo.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::targets::Targets;

/// Names the folder for the notes.
pub(super) const VARIABLE: &str = "GMP_NOTED_PROGRAMS";

/// The folder, if the program is to be noted and not started.
pub(crate) fn wanted() -> Option<PathBuf> {
    env::var_os(VARIABLE).map(PathBuf::from)
}

/// Notes the program in place of starting it.
pub(crate) fn note(command: &Command, folder: &Path) -> Result<()> {
    let mut environment: BTreeMap<OsString, OsString> = env::vars_os().collect();
    environment.remove(OsStr::new(VARIABLE));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => drop(environment.insert(name.to_owned(), value.to_owned())),
            None => drop(environment.remove(name)),
        }
    }
    let arguments: Vec<_> = command.get_args().map(OsStr::to_owned).collect();
    let (path, target) = (command.get_program().into(), String::new());
    let program = Program { path, target, folder: env::current_dir()?, arguments, environment };
    // Cargo starts one program after the other, and nextest several at once.
    let number = fs::read_dir(folder)?.count();
    fs::write(folder.join(format!("{number:06}-{}", std::process::id())), program.to_bytes())?;
    Ok(())
}

/// A program with tests.
#[derive(Debug, PartialEq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// As [`Targets`] name it. Not known when the program is noted.
    target: String,
    folder: PathBuf,
    /// Those of the user, for libtest.
    pub(super) arguments: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
}

impl Program {
    pub(super) fn read_all(folder: &Path, targets: &Targets) -> Result<Vec<Program>> {
        let mut notes = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        notes.sort();
        let read = |note| {
            let program = Program::of_bytes(&fs::read(note)?).context("a note that is none")?;
            let target = targets.of(&program.path).to_owned();
            Ok(Program { target, ..program })
        };
        notes.iter().map(read).collect()
    }

    #[cfg(test)]
    pub(super) fn of_package(name: &str) -> Program {
        let environment = BTreeMap::from([("CARGO_PKG_NAME".into(), name.into())]);
        let (path, target, folder, arguments) = Default::default();
        Program { path, target, folder, arguments, environment }
    }

    /// Starts the program as cargo would, but without input and arguments.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear().envs(&self.environment).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// The program by nextest's name for it, without the arguments that made it list its tests.
    pub(super) fn of_nextest(self, id: &str) -> Program {
        let target = id.split_once("::").map_or("", |(_, target)| target).to_owned();
        Program { target, arguments: Vec::new(), ..self }
    }

    /// The package that has these tests.
    pub(super) fn package(&self) -> &str {
        self.environment.get(OsStr::new("CARGO_PKG_NAME")).and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// The package and the target, as nextest names programs: `app`, `app::it` or `app::bin/tool`.
    pub(super) fn name(&self) -> String {
        match self.target.as_str() {
            "" => self.package().to_owned(),
            target => format!("{}::{target}", self.package()),
        }
    }

    /// No text here can contain a zero.
    fn to_bytes(&self) -> Vec<u8> {
        let count = self.arguments.len().to_string();
        let head = [self.path.as_os_str(), self.folder.as_os_str(), count.as_ref()];
        let arguments = self.arguments.iter().map(OsString::as_os_str);
        let environment = self.environment.iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]);
        let all: Vec<_> = head.into_iter().chain(arguments).chain(environment).map(OsStr::as_bytes).collect();
        all.join(&0)
    }

    fn of_bytes(bytes: &[u8]) -> Option<Program> {
        let mut texts = bytes.split(|byte| *byte == 0).map(|text| OsString::from_vec(text.to_owned()));
        let (path, folder) = (texts.next()?.into(), texts.next()?.into());
        let count: usize = texts.next()?.to_str()?.parse().ok()?;
        let arguments = texts.by_ref().take(count).collect();
        let mut environment = BTreeMap::new();
        while let Some((name, value)) = texts.next().zip(texts.next()) {
            environment.insert(name, value);
        }
        Some(Program { path, target: String::new(), folder, arguments, environment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_started_as_it_was_noted() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("/deps/it-0123456789abcdef");
        command.args(["a b", "", "--skip"]).env("CARGO_PKG_NAME", "app").env("EMPTY", "").env_remove("PATH");
        note(&command, folder.path()).unwrap();
        let programs = Program::read_all(folder.path(), &Targets::default()).unwrap();
        let [program] = &programs[..] else { panic!("{programs:?}") };
        assert_eq!(program.arguments, ["a b", "", "--skip"]);
        assert_eq!((program.package(), program.name()), ("app", "app".to_owned()));
        assert_eq!(program.folder, env::current_dir().unwrap());
        assert_eq!(program.environment.get(OsStr::new("EMPTY")), Some(&OsString::new()));
        assert!(!program.environment.contains_key(OsStr::new("PATH")));
    }
}
