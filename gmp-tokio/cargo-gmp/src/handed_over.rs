//! The runner for tools that start tests themselves, as nextest does.
//!
//! Such a tool asks cargo only for the build, so the runner among cargo's options has no effect on
//! the tests. The tool looks for a runner where cargo would, and one of these places is a variable.
//! A cargo that the tool starts must not take the variable for a setting of the user's.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::nested::AS_STARTER;
use crate::project::Project;
use crate::sources::HOST;
use crate::{configuration, run};

/// Makes `tool` start programs through [`crate::program`], unless the user has a runner.
pub(crate) fn give(tool: &mut Command, cargo: &Cargo, arguments: &Arguments) -> Result<()> {
    // A tool may have its work elsewhere, or none that needs a project.
    let Ok(project) = Project::find(cargo, arguments) else { return Ok(()) };
    if !configuration::runners(&project.current_directory()?, arguments.target.as_deref())?.is_empty() {
        return Ok(());
    }
    let programs = run::programs(&project, arguments)?;
    let words = run::runner(&project, &programs)?;
    // The words of a variable are separated by spaces, and there is no way to write another space.
    if !words.iter().any(|word| word.contains(char::is_whitespace)) {
        tool.env(variable(HOST), words.join(" "));
    }
    Ok(())
}

/// Removes the variable for a cargo. Cargo would prefer it to the option that says the same for the
/// project that is built.
pub(crate) fn take_back(cargo: &mut Command) {
    if env::var(variable(HOST)).is_ok_and(|text| is_own(&text)) {
        cargo.env_remove(variable(HOST));
    }
}

/// Whether a variable that configures a runner was set by this command.
pub(crate) fn is_own(text: &str) -> bool {
    let starter = text.split_whitespace().next().map(Path::new);
    starter.is_some_and(|starter| starter.is_absolute() && starter.ends_with(Path::new("gmp/nested").join(AS_STARTER)))
}

/// The variable that configures the runner of programs for `platform`.
pub(crate) fn variable(platform: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", platform.to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_runners_are_told_from_the_users() {
        assert!(is_own("/a/target/gmp/nested/on-gmp /a/target /a/target/gmp"));
        for users in ["", "on-gmp", "gmp/nested/on-gmp", "qemu-x86_64 /a/gmp/nested/on-gmp", "/a/nested/on-gmp x"] {
            assert!(!is_own(users), "{users}");
        }
    }
}
