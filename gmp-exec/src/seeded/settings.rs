//! The settings of a seeded run, from the environment.

use std::ffi::{OsStr, OsString};
use std::os::fd::IntoRawFd;

use super::decisions::{Kind, Replay};
use crate::sys::environment;

#[derive(Debug)]
pub(super) struct Settings {
    pub(super) seed: u64,
    /// The file that gets a line at the end.
    pub(super) report: Option<OsString>,
    /// After so many decisions the run ends.
    pub(super) most_decisions: u64,
    /// The same in nanoseconds of virtual time.
    pub(super) most_time: u64,
    /// Tasks of current-thread runtimes and of `LocalSet`s are polled in tokio's order.
    pub(super) keeps_order: bool,
}

const HEXADECIMAL: &str = "a hexadecimal number of up to 16 digits";
const NUMBER: &str = "a number, 1 or more";

const MOST_DECISIONS: u64 = 10_000_000;
/// A day.
const MOST_SECONDS: u64 = 86_400;

/// `None`: `GMP_SEED` is not set.
///
/// # Errors
///
/// A setting is invalid. The text says which.
pub(super) fn read() -> Result<Option<Settings>, String> {
    let Some(seed) = parsed("GMP_SEED", HEXADECIMAL, |text| u64::from_str_radix(text, 16).ok())? else {
        return Ok(None);
    };
    let number = |text: &str| text.parse().ok().filter(|&number| number > 0);
    let seconds = parsed("GMP_SEED_SECONDS", NUMBER, number)?.unwrap_or(MOST_SECONDS);
    Ok(Some(Settings {
        seed,
        report: environment::var_os("GMP_SEED_REPORT").map(OsStr::to_owned),
        most_decisions: parsed("GMP_SEED_DECISIONS", NUMBER, number)?.unwrap_or(MOST_DECISIONS),
        most_time: seconds.saturating_mul(1_000_000_000),
        keeps_order: environment::var_os("GMP_SEED_KEEP_ORDER").is_some(),
    }))
}

/// The bits of the kinds in `GMP_SEED_KINDS`.
///
/// # Errors
///
/// There is no kind of such a name.
pub(super) fn read_kinds() -> Result<u64, String> {
    let Some(names) = environment::var_os("GMP_SEED_KINDS") else { return Ok(u64::MAX) };
    let names = names.to_string_lossy();
    let unknown = |name: &str| {
        let all: Vec<String> = Kind::ALL.into_iter().map(Kind::name).collect();
        format!("GMP_SEED_KINDS: {name:?} is no kind of decision; allowed are none, {}", all.join(", "))
    };
    names.split(',').filter(|name| *name != "none").try_fold(0, |bits, name| {
        let kind = Kind::named(name).ok_or_else(|| unknown(name))?;
        Ok(bits | kind.bit())
    })
}

/// The choices in the file of `GMP_SEED_REPLAY`: `1 Task` on each line, or `1 of 3 Task, decision 41` as in
/// a log, where lines that begin with a space are events.
///
/// # Errors
///
/// The file can't be read, or a line is no choice.
pub(super) fn read_replay() -> Result<Option<Replay>, String> {
    let Some(path) = environment::var_os("GMP_SEED_REPLAY") else { return Ok(None) };
    let text = std::fs::read_to_string(path).map_err(|error| format!("GMP_SEED_REPLAY={path:?}: {error}"))?;
    let mut replay = Replay::default();
    for line in text.lines().filter(|line| !line.starts_with(' ')) {
        let no_choice =
            || format!("GMP_SEED_REPLAY: {line:?} is no choice; allowed is a number and a kind, as in 1 Task");
        let (kind, choice) = choice(line).ok_or_else(no_choice)?;
        replay.add(kind, choice);
    }
    Ok(Some(replay))
}

fn choice(line: &str) -> Option<(Kind, usize)> {
    let before_number = line.split(',').next()?;
    let (first, last) = (before_number.split(' ').next()?, before_number.split(' ').next_back()?);
    Some((Kind::named(last)?, first.parse().ok()?))
}

/// The file of `GMP_SEED_LOG`, emptied.
///
/// # Errors
///
/// It can't be opened.
pub(super) fn open_log() -> Result<Option<i32>, String> {
    let Some(path) = environment::var_os("GMP_SEED_LOG") else { return Ok(None) };
    let file = std::fs::File::create(path).map_err(|error| format!("GMP_SEED_LOG={path:?}: {error}"))?;
    Ok(Some(file.into_raw_fd()))
}

fn parsed(name: &str, allowed: &str, parse: impl FnOnce(&str) -> Option<u64>) -> Result<Option<u64>, String> {
    let Some(text) = environment::var_os(name) else { return Ok(None) };
    let value = text.to_str().and_then(parse);
    value.map(Some).ok_or_else(|| format!("{name}={text:?}: allowed is {allowed}"))
}
