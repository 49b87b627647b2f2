//! The tests of a program. libtest itself lists them, so that the user's filters mean what they mean.

use std::collections::HashSet;
use std::ffi::OsString;
use std::process::Output;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::program::Program;

/// A test, which runs in a process of its own.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) program: Arc<Program>,
    /// Empty: the program has no harness, and is one test.
    pub(super) name: String,
}

impl Test {
    #[cfg(test)]
    pub(super) fn named(package: &str, name: &str) -> Test {
        Test { program: Arc::new(Program::of_package(package)), name: name.to_owned() }
    }

    /// By this name its seeds are kept.
    pub(super) fn full_name(&self) -> String {
        match self.name.as_str() {
            "" => self.program.name(),
            name => format!("{}::{name}", self.program.name()),
        }
    }

    /// Makes the program run this test alone.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        match self.name.as_str() {
            "" => self.program.arguments.clone(),
            name => [name, "--exact", "--nocapture", "--include-ignored"].map(OsString::from).to_vec(),
        }
    }
}

pub(super) fn tests(program: Program) -> Result<Vec<Test>> {
    let has = |option: &str| program.arguments.iter().any(|argument| argument == option);
    let takes_ignored = has("--ignored") || has("--include-ignored");
    let mut names = names(&program, &[])?;
    if !takes_ignored && !names.is_empty() {
        // libtest lists those as well that it would not run.
        let ignored: HashSet<_> = self::names(&program, &["--ignored"])?.into_iter().collect();
        names.retain(|name| name.is_empty() || !ignored.contains(name));
    }
    let program = Arc::new(program);
    Ok(names.into_iter().map(|name| Test { program: program.clone(), name }).collect())
}

/// # Errors
///
/// The program lists its tests, but not with the user's arguments.
fn names(program: &Program, more: &[&str]) -> Result<Vec<String>> {
    let arguments = without_format(&program.arguments);
    let listed = list(program, &arguments, more)?;
    if listed.status.success() {
        return Ok(listed_in(&String::from_utf8_lossy(&listed.stdout)));
    }
    let (path, errors) = (program.path.display(), String::from_utf8_lossy(&listed.stderr));
    let given = program.arguments.join(" ".as_ref());
    let lists_without = !arguments.is_empty() && list(program, &[], more)?.status.success();
    ensure!(!lists_without, "{path} does not take these arguments: {}\n{errors}", given.display());
    eprintln!("warning: {path} does not list its tests, and is left out:\n{errors}");
    Ok(Vec::new())
}

fn list(program: &Program, arguments: &[OsString], more: &[&str]) -> Result<Output> {
    let mut command = program.command();
    command.args(arguments).args(["--list", "--format", "pretty"]).args(more);
    command.output().with_context(|| format!("can't start {}", program.path.display()))
}

/// libtest takes one of the options that say how it prints. `cargo test --quiet` adds one, too.
fn without_format(arguments: &[OsString]) -> Vec<OsString> {
    let mut arguments = arguments.iter();
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-q" | "--quiet") => {}
            Some("--format") => drop(arguments.next()),
            Some(text) if text.starts_with("--format=") => {}
            _ => kept.push(argument.clone()),
        }
    }
    kept
}

/// libtest says at the end how many there are. A program that says nothing of this kind has taken no
/// notice of the options: it has no harness.
fn listed_in(output: &str) -> Vec<String> {
    let names: Vec<_> = output.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect();
    let is_list = !names.is_empty() || output.lines().any(|line| line.ends_with(" benchmarks"));
    if is_list { names } else { vec![String::new()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_harness_is_a_test() {
        assert_eq!(listed_in("a::b: test\nc::<u8>: test\nd: benchmark\n\n2 tests, 1 benchmark\n"), ["a::b", "c::<u8>"]);
        assert_eq!(listed_in("\n0 tests, 0 benchmarks\n"), [""; 0]);
        assert_eq!(listed_in("all is well\n"), [""]);
    }

    #[test]
    fn how_the_user_wants_tests_printed_does_not_matter() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let given = "--quiet a --format terse -q --format=json --skip b";
        assert_eq!(without_format(&words(given)), words("a --skip b"));
    }
}
