//! Options of this command where they mean nothing. Cargo would take them for wrong spellings of its own.

use std::ffi::OsString;

use anyhow::Result;

use crate::alias::Line;
use crate::usage::usage;

const EXPLORE: &str = "goes with `--seeds` or `--for`";
const AGAIN: &str = "goes with `--seed` or `--replay`";
const ANY: &str = "goes with `--seeds`, `--for`, `--seed` or `--replay`";
const SEED: &str = "goes with `--seed`";
const TEST: &str = "is an option of `cargo gmp test`";
const RUN: &str = "is an option of `cargo gmp run`, without `--seed`";

const OF_TEST: [(&str, &str); 11] = [
    ("--check", EXPLORE),
    ("--first-seed", EXPLORE),
    ("--json", EXPLORE),
    ("--program", AGAIN),
    ("--timeout", ANY),
    ("--net", ANY),
    ("--real-net", ANY),
    ("--keep-order", ANY),
    ("--preempt", ANY),
    ("--trace", RUN),
    ("--console", RUN),
];

const OF_RUN: [(&str, &str); 12] = [
    ("--net", SEED),
    ("--real-net", SEED),
    ("--keep-order", SEED),
    ("--preempt", SEED),
    ("--seeds", TEST),
    ("--for", TEST),
    ("--replay", TEST),
    ("--program", TEST),
    ("--check", TEST),
    ("--first-seed", TEST),
    ("--json", TEST),
    ("--timeout", TEST),
];

const BESIDE_SEED: [(&str, &str); 2] = [("--trace", RUN), ("--console", RUN)];

/// `line` is what is left for cargo.
///
/// # Errors
///
/// An option of this command is left.
pub(super) fn refuse(line: &Line, has_seeds: bool) -> Result<()> {
    let options = || line.rest.iter().take_while(|argument| *argument != "--");
    match line.subcommand.to_str() {
        Some("test" | "t") => refuse_any(options(), &OF_TEST),
        Some("run" | "r") => {
            // What follows the first argument that is no option may be the program's.
            let options = || options().take_while(|argument| argument.as_encoded_bytes().starts_with(b"-"));
            refuse_any(options(), &OF_RUN)?;
            if has_seeds { refuse_any(options(), &BESIDE_SEED) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

fn refuse_any<'a>(mut options: impl Iterator<Item = &'a OsString>, refused: &[(&str, &str)]) -> Result<()> {
    let name = |option: &'a OsString| option.to_str().and_then(|text| text.split('=').next()).unwrap_or_default();
    let found = options.find_map(|option| refused.iter().find(|(refused, _)| *refused == name(option)));
    found.map_or(Ok(()), |(option, why)| Err(usage(format!("`{option}` {why}"))))
}
