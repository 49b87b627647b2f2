//! Builds the program in `benches/go`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// The directory of the source when this program was built.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/go");

/// Builds the program with the command `go`, beside this program, and returns the path of the
/// result. This is quick if nothing has changed.
///
/// # Errors
///
/// There is no such command or no source, or the build fails. The message says which.
pub fn build(go: &str) -> io::Result<PathBuf> {
    if !Path::new(SOURCE).is_dir() {
        return Err(io::Error::other(format!("its program is not at {SOURCE} any more")));
    }
    let program = env::current_exe()?.with_file_name("gmp-benches-go");
    let mut command = Command::new(go);
    // The installed version is measured: Go must not download another one.
    command.env("GOTOOLCHAIN", "local").args(["build", "-buildvcs=false", "-o"]).arg(&program).current_dir(SOURCE);
    let output = command.output().map_err(|error| no_command(go, &error))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("`{go} build` failed ({}): {}", output.status, message.trim())));
    }
    Ok(program)
}

fn no_command(go: &str, error: &io::Error) -> io::Error {
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no command `{go}`"),
        _ => format!("the command `{go}` can't be run: {error}"),
    };
    io::Error::new(error.kind(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_command_is_named() {
        let error = build("go-that-is-not-there").unwrap_err();
        assert_eq!(error.to_string(), "there is no command `go-that-is-not-there`");
    }

    #[cfg(unix)]
    #[test]
    fn a_build_that_fails_is_an_error() {
        let error = build("false").unwrap_err().to_string();
        assert!(error.starts_with("`false build` failed (exit status: 1)"), "{error}");
    }
}
