//! What is said if the command line leaves no test to run.

use std::collections::BTreeSet;
use std::ffi::OsString;

use super::listing::Test;

/// `arguments` are the user's, for cargo and libtest.
pub(super) fn fits(arguments: &[OsString]) -> String {
    match arguments {
        [] => "there is no test".to_owned(),
        all => format!("no test fits `{}`", all.join(" ".as_ref()).display()),
    }
}

/// `tests` are those that fit, of other programs.
pub(super) fn is_of(program: &str, tests: &[Test]) -> String {
    let programs: BTreeSet<String> = tests.iter().map(|test| test.program.name()).collect();
    let programs: Vec<String> = programs.into_iter().collect();
    format!("`--program {program}`: tests are in {}", programs.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_is_named() {
        let words = ["-p", "app", "nosuch"].map(OsString::from);
        assert_eq!(fits(&words), "no test fits `-p app nosuch`");
        assert_eq!(fits(&[]), "there is no test");
        let tests = [("b", "x"), ("a", "x"), ("b", "y")].map(|(package, name)| Test::named(package, name));
        assert_eq!(is_of("c", &tests), "`--program c`: tests are in a, b");
    }
}
