//! The environment variables `GMP_*`, and tokio's own, which are read once, for the first runtime: tests
//! build thousands of runtimes, and each would search the environment for each variable.
//!
//! A program that runs with rights that its caller does not have (set-uid, set-gid or file
//! capabilities) sees none of them: the caller would choose which files `GMP_TRACE` overwrites and
//! deletes. The C library ignores its variables in the same case.
#![allow(unsafe_code, reason = "asks the C library whether the program has more rights than its caller")]

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;
use std::{env, io};

use crate::sys::stderr;

/// All settings.
const NAMES: [&str; 19] = [
    "GMP_BLOCKED",
    "GMP_CLOSURES",
    "GMP_DEADLOCK_AFTER",
    "GMP_DEBUG",
    "GMP_LEAKS",
    "GMP_MAXPROCS",
    "GMP_NO_MEMBARRIER",
    "GMP_SEED",
    "GMP_SEED_DECISIONS",
    "GMP_SEED_KEEP_ORDER",
    "GMP_SEED_KINDS",
    "GMP_SEED_LOG",
    "GMP_SEED_NET",
    "GMP_SEED_REPLAY",
    "GMP_SEED_REPORT",
    "GMP_SEED_SECONDS",
    "GMP_SOURCES",
    "GMP_TIME_SLICES",
    "GMP_TRACE",
];

/// tokio's own variable.
const OF_TOKIO: &str = "TOKIO_WORKER_THREADS";

/// Whether the crate has the module `seeded`.
const HAS_SEEDED_RUNS: bool =
    cfg!(all(feature = "seeded", target_os = "linux", target_env = "gnu", target_pointer_width = "64"));

/// So many letters may be wrong. Other programs have variables that begin with `GMP_`, too.
const MOST_WRONG: usize = 2;

/// The variables of this program, and other programs', that begin with `GMP_`, and tokio's. Says at the
/// first call which names look like misspelt settings, and which settings do not count in this build.
fn variables() -> &'static [(String, OsString)] {
    static VARIABLES: OnceLock<Vec<(String, OsString)>> = OnceLock::new();
    VARIABLES.get_or_init(|| {
        if has_more_rights_than_its_caller() {
            return Vec::new();
        }
        let variables = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let variables: Vec<_> = variables.filter(|(name, _)| name.starts_with("GMP_") || name == OF_TOKIO).collect();
        variables.iter().filter_map(|(name, _)| objection(name)).for_each(|text| stderr::try_write(&text));
        variables
    })
}

fn objection(name: &str) -> Option<String> {
    if name == "GMP_SEED" && !HAS_SEEDED_RUNS {
        return Some(
            "gmp: this build has no seeded runs, so GMP_SEED does not count; see cargo gmp test --seed\n".into(),
        );
    }
    if NAMES.contains(&name) {
        return None;
    }
    let meant = NAMES.into_iter().find(|known| distance(name.as_bytes(), known.as_bytes()) <= MOST_WRONG)?;
    Some(format!("gmp: unknown setting {name}; did you mean {meant}?\n"))
}

/// How many letters have to be added, removed or replaced (Levenshtein).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// `None`: the variable is not set, or does not count.
pub(crate) fn var_os(name: &str) -> Option<&'static OsStr> {
    variables().iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
}

/// The value of a variable that `parse` understands.
///
/// # Errors
///
/// The value is not valid UTF-8, or `parse` does not understand it.
pub(crate) fn parsed<T>(name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> io::Result<Option<T>> {
    let Some(value) = var_os(name) else { return Ok(None) };
    let text = value.to_str().ok_or_else(|| format!("{name}={value:?} is not valid UTF-8"));
    text.and_then(parse).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn has_more_rights_than_its_caller() -> bool {
    // SAFETY: reads a vector that the kernel has written when the program started. 0 also stands
    // for a vector without this entry.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn has_more_rights_than_its_caller() -> bool {
    // SAFETY: these system calls touch no memory, and always succeed.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

#[cfg(test)]
mod tests {
    use super::{HAS_SEEDED_RUNS, objection};

    #[test]
    fn a_name_that_is_nearly_a_setting_is_told() {
        let told = |name: &str| objection(&format!("GMP_{name}"));
        assert_eq!(told("BLOKED").unwrap(), "gmp: unknown setting GMP_BLOKED; did you mean GMP_BLOCKED?\n");
        assert!(told("LEAK").unwrap().ends_with("mean GMP_LEAKS?\n"));
        for name in ["BLOCKED", "LIB_DIR", "TEST_CASE", "BUILDS"] {
            assert_eq!(told(name), None, "{name}");
        }
        assert_eq!(told("SEED").is_none(), HAS_SEEDED_RUNS);
    }
}
