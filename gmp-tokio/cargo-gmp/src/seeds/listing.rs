//! The tests of a program. libtest itself lists them, so that the user's filters mean what they mean.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::program::Program;

/// A test, which runs in a process of its own.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) program: Arc<Program>,
    pub(super) name: String,
}

impl Test {
    /// By this name its seeds are kept.
    pub(super) fn full_name(&self) -> String {
        format!("{}::{}", self.program.package(), self.name)
    }
}

pub(super) fn tests(program: Program) -> Result<Vec<Test>> {
    let has = |option: &str| program.arguments.iter().any(|argument| argument == option);
    let takes_ignored = has("--ignored") || has("--include-ignored");
    let mut names = names(&program, &[])?;
    if !takes_ignored && !names.is_empty() {
        // libtest lists those as well that it would not run.
        let ignored: HashSet<_> = self::names(&program, &["--ignored"])?.into_iter().collect();
        names.retain(|name| !ignored.contains(name));
    }
    let program = Arc::new(program);
    Ok(names.into_iter().map(|name| Test { program: program.clone(), name }).collect())
}

fn names(program: &Program, more: &[&str]) -> Result<Vec<String>> {
    let mut command = program.command();
    command.args(&program.arguments).args(["--list", "--format", "terse"]).args(more);
    let listed = command.output().with_context(|| format!("can't start {}", program.path.display()))?;
    if !listed.status.success() {
        let errors = String::from_utf8_lossy(&listed.stderr);
        eprintln!("warning: {} does not list its tests, and is left out:\n{errors}", program.path.display());
        return Ok(Vec::new());
    }
    let listed = String::from_utf8_lossy(&listed.stdout);
    Ok(listed.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect())
}
