//! Shell scripts in place of the program in Go.

use std::fs;
use std::process::Command;

use tempfile::{NamedTempFile, TempPath};

/// A script that can be started until this value is dropped.
pub(in crate::sides) struct Fake {
    pub(in crate::sides) command: Command,
    _script: TempPath,
}

/// Creates a program that runs `script`.
///
/// The program that is started is the shell, which reads the script. A file that is itself the
/// program can't be started while a descriptor of it is open for writing. A child that another
/// test's thread forks at this moment has such a descriptor until it calls `exec`.
pub(in crate::sides) fn program(script: &str) -> Fake {
    let path = NamedTempFile::new().expect("a temporary file can be made").into_temp_path();
    fs::write(&path, script).expect("it can be written");
    let mut command = Command::new("sh");
    command.arg(&path);
    Fake { command, _script: path }
}
