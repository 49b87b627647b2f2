//! `programs.toml`: the programs that are run, and the script for each.

use serde::Deserialize;

use crate::drop_in;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub(crate) program: Vec<Program>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) name: String,
    /// The exact version that the script was written for.
    pub(crate) version: String,
    /// Additional arguments of `cargo gmp build --locked`, such as features.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// A description of the script in one sentence, for the table.
    pub(crate) does: String,
    /// A bash script that succeeds if the program works. `prelude.sh` has the commands that all
    /// scripts share.
    pub(crate) script: String,
    /// A remark for the table.
    #[serde(default)]
    pub(crate) note: String,
}

impl List {
    pub(crate) fn load() -> Result<List, String> {
        let path = drop_in().join("programs.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("programs.toml: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_listed_once_and_its_use_is_told() {
        let list = List::load().unwrap();
        let mut names: Vec<&str> = list.program.iter().map(|program| &*program.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.program.len());
        for program in &list.program {
            assert!(!program.does.is_empty() && !program.does.contains(['|', '\n']), "{}", program.name);
        }
    }
}
