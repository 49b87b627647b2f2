//! `conformance.toml`: tests that are not compiled, are not run, or may fail, and the reasons.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Deserialize;

use crate::round::Round;

/// The list of exceptions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    /// Exceptions for whole files.
    #[serde(default)]
    file: Vec<FileException>,
    /// Exceptions for single tests.
    #[serde(default)]
    pub(crate) test: Vec<TestException>,
    /// Exceptions for public items.
    #[serde(default)]
    api: Vec<ApiException>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApiException {
    /// Applies to the round with `--cfg tokio_unstable` only.
    #[serde(default)]
    unstable: bool,
    /// The items' names, as the comparison writes them.
    items: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileException {
    /// Applies to the round with `--cfg tokio_unstable` only.
    #[serde(default)]
    unstable: bool,
    name: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestException {
    /// Applies to the round with `--cfg tokio_unstable` only.
    #[serde(default)]
    pub(crate) unstable: bool,
    /// The name as `file::test`, including modules.
    pub(crate) name: String,
    pub(crate) expect: Expect,
    reason: String,
}

/// The expected behaviour of a listed test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Expect {
    /// Runs and fails. If the test passes, its entry must be removed.
    Failure,
    /// Sometimes passes and sometimes fails.
    Either,
    /// Passes, but allows so little real time that a busy machine may need more. A test that failed
    /// runs again.
    Limited,
    /// Is not run.
    NotRun,
}

impl Exceptions {
    pub(crate) fn is_compiled(&self, file: &str) -> bool {
        !self.file.iter().any(|exception| exception.name == file)
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.file.iter().map(|exception| &*exception.name)
    }

    pub(crate) fn expect(&self, test: &str) -> Option<Expect> {
        self.test.iter().find(|exception| exception.name == test).map(|exception| exception.expect)
    }

    /// The items that must be different in this round. With the cfg, a difference of the stable API
    /// may be hidden.
    pub(crate) fn api_items(&self, round: Round) -> impl Iterator<Item = &str> {
        let is_unstable = round == Round::Unstable;
        self.api
            .iter()
            .filter(move |exception| exception.unstable == is_unstable)
            .flat_map(|exception| exception.items.iter().map(|item| &**item))
    }

    pub(crate) fn api_reason(&self, item: &str) -> Option<&str> {
        let exception = self.api.iter().find(|exception| exception.items.iter().any(|listed| listed == item))?;
        Some(&exception.reason)
    }

    /// Leaves out what does not apply to this round.
    fn keep(&mut self, round: Round) {
        if round == Round::Stable {
            self.file.retain(|exception| !exception.unstable);
            self.test.retain(|exception| !exception.unstable);
            self.api.retain(|exception| !exception.unstable);
        }
    }

    fn check(&self) -> Result<(), String> {
        let files = self.file.iter().map(|exception| (&exception.name, &exception.reason));
        let tests = self.test.iter().map(|exception| (&exception.name, &exception.reason));
        let items = self.api.iter().flat_map(|exception| exception.items.iter().map(|item| (item, &exception.reason)));
        let mut seen = HashSet::new();
        for (name, reason) in files.chain(tests).chain(items) {
            if reason.trim().is_empty() {
                return Err(format!("conformance.toml gives no reason for {name}"));
            }
            if !seen.insert(name) {
                return Err(format!("conformance.toml names {name} twice"));
            }
        }
        Ok(())
    }
}

pub(crate) fn load(round: Round) -> Result<Exceptions, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../conformance.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut exceptions: Exceptions = toml::from_str(&text).map_err(|error| format!("conformance.toml: {error}"))?;
    exceptions.check()?;
    exceptions.keep(round);
    Ok(exceptions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_readable_and_gives_reasons() {
        assert!(load(Round::Stable).is_ok() && load(Round::Unstable).is_ok());
    }

    #[test]
    fn an_exception_for_the_cfg_does_not_apply_without_it() {
        let text = "[[file]]\nname = \"a\"\nunstable = true\nreason = \"b\"";
        for (round, is_compiled) in [(Round::Stable, true), (Round::Unstable, false)] {
            let mut exceptions: Exceptions = toml::from_str(text).unwrap();
            exceptions.keep(round);
            assert_eq!(exceptions.is_compiled("a"), is_compiled);
        }
    }

    #[test]
    fn a_list_without_reasons_or_with_doubles_is_refused() {
        for text in [
            "[[file]]\nname = \"a\"\nreason = \" \"",
            "[[api]]\nitems = [\"a\"]\nreason = \" \"",
            "[[file]]\nname = \"a\"\nreason = \"b\"\n[[file]]\nname = \"a\"\nreason = \"c\"",
        ] {
            let exceptions: Exceptions = toml::from_str(text).unwrap();
            assert!(exceptions.check().is_err(), "{text}");
        }
        assert!(toml::from_str::<Exceptions>("[[test]]\nname = \"a\"\nexpect = \"success\"\nreason = \"b\"").is_err());
    }
}
