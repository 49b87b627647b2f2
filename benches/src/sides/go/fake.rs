//! Shell scripts that stand in for the program in Go.

use std::fs;
use std::process::Command;

use tempfile::{NamedTempFile, TempPath};

/// A script that can be started as long as this is there.
pub(in crate::sides) struct Fake {
    pub(in crate::sides) command: Command,
    _script: TempPath,
}

/// A program that does what the script says.
///
/// The shell is started and reads the script. A file that is itself the program can't be started
/// while a descriptor of it is open for writing, and the child that another test's thread forks at
/// this moment has one until it runs its program.
pub(in crate::sides) fn program(script: &str) -> Fake {
    let path = NamedTempFile::new().expect("a temporary file can be made").into_temp_path();
    fs::write(&path, script).expect("it can be written");
    let mut command = Command::new("sh");
    command.arg(&path);
    Fake { command, _script: path }
}
