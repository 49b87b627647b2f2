//! Reads the outcomes of tests from the output of cargo and libtest.
//!
//! The text is parsed because libtest prints JSON only with an unstable option.

use std::collections::BTreeMap;

/// The outcome of each test, by binary and name.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    binary: String,
    all: BTreeMap<(String, String), String>,
}

impl Outcomes {
    /// Reads the next line of the output.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(binary) = binary(line) {
            self.binary = binary;
        } else if let Some((name, outcome)) = outcome(line) {
            self.all.insert((self.binary.clone(), name.to_owned()), outcome.to_owned());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn count(&self, outcome: &str) -> usize {
        self.all.values().filter(|it| *it == outcome).count()
    }

    /// Each test with another outcome in `other`: its name, and both outcomes.
    pub(crate) fn differences<'a>(&'a self, other: &'a Outcomes) -> Vec<(String, &'a str, &'a str)> {
        const NONE: &str = "not run to its end";
        let mut keys: Vec<_> = self.all.keys().chain(other.all.keys()).collect();
        keys.sort();
        keys.dedup();
        let of = |outcomes: &'a Outcomes, key| outcomes.all.get(key).map_or(NONE, String::as_str);
        let both = keys.into_iter().map(|key| (format!("{}: {}", key.0, key.1), of(self, key), of(other, key)));
        both.filter(|(_, one, other)| one != other).collect()
    }
}

/// The binary in `Running unittests src/main.rs (target/debug/deps/app-0123)`, without the part
/// that changes with each build.
fn binary(line: &str) -> Option<String> {
    let line = line.trim_start();
    let name = match line.strip_prefix("Running ") {
        Some(running) => running.rsplit_once(" (")?.0,
        None => return line.starts_with("Doc-tests ").then(|| line.to_owned()),
    };
    Some(name.strip_prefix("unittests ").unwrap_or(name).to_owned())
}

/// The name and the outcome in `test name ... ok`. Output of a test that isn't captured may stand
/// between the two.
fn outcome(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let outcome = ["ok", "FAILED"].into_iter().find(|outcome| rest.ends_with(outcome));
    let ignored = || (rest == "ignored" || rest.starts_with("ignored, ")).then_some("ignored");
    Some((name, outcome.or_else(ignored)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Outcomes {
        let mut outcomes = Outcomes::default();
        text.lines().for_each(|line| outcomes.read(line));
        outcomes
    }

    #[test]
    fn tests_that_differ_are_found_by_binary_and_name() {
        let tokio = "     Running unittests src/main.rs (target/debug/deps/a-1)\n\nrunning 3 tests\ntest b ... ok\n\
                     test c - should panic ... ok\ntest d ... ignored, slow\n     Running tests/it.rs (target/debug/deps/it-1)\n\
                     test b ... ok\ntest last ... ok\n   Doc-tests a\ntest src/lib.rs - f (line 3) ... ok\n";
        let gmp = tokio.replace("a-1)", "a-2)").replacen("test b ... ok", "test b ... FAILED", 1);
        let gmp = gmp.replace("test last ... ok\n", "test last ... wordserror: test failed\n");
        let (tokio, gmp) = (read(tokio), read(&gmp));
        assert_eq!((tokio.count("ok"), tokio.count("FAILED"), tokio.count("ignored")), (5, 0, 1));
        assert_eq!((gmp.count("ok"), gmp.count("FAILED")), (3, 1));
        let expected = [("src/main.rs: b", "ok", "FAILED"), ("tests/it.rs: last", "ok", "not run to its end")];
        assert_eq!(tokio.differences(&gmp), expected.map(|(name, one, other)| (name.to_owned(), one, other)));
        assert!(tokio.differences(&tokio).is_empty());
    }
}
