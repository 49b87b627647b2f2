//! A failure made simple: the file with the choices that are left, and what they mean.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::ending::Ending;
use super::listing::Test;
use super::process::{Files, Output, Place};
use super::shrink::{NoRun, shrink};
use super::story::{Choice, choices, story};

/// What this may cost. Most failures need less.
const MOST_RUNS: u32 = 500;
const MOST_TIME: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Shrunk {
    /// The choices, for `--replay`.
    pub(super) file: PathBuf,
    /// The choices that are left, in words.
    pub(super) story: Vec<String>,
    /// How many choices of the failure were not 0.
    pub(super) of: usize,
    pub(super) runs: u32,
}

/// The file begins with this line. The engine takes lines that begin with a space for events.
const SEED: &str = " seed ";

/// The seed in a file of choices.
pub(super) fn seed(text: &str) -> Option<u64> {
    u64::from_str_radix(text.lines().next()?.strip_prefix(SEED)?, 16).ok()
}

/// A failing test under a seed.
pub(super) struct Case<'a> {
    pub(super) place: &'a Place,
    pub(super) test: &'a Test,
    pub(super) seed: u64,
    pub(super) ending: &'a Ending,
    /// The real time that a run may take.
    pub(super) limit: Duration,
}

impl Case<'_> {
    /// `None`: with the choices of its log the test does not fail like this.
    pub(super) fn shrunk(&self, file: PathBuf, is_over: impl Fn() -> bool) -> Result<Option<Shrunk>> {
        let original = choices(&self.log(None)?);
        if !self.fails_with(&original)? {
            return Ok(None);
        }
        let deadline = Instant::now() + MOST_TIME;
        let mut runs = 1;
        let fails = |choices: &[Choice]| {
            if runs == MOST_RUNS || Instant::now() >= deadline || is_over() {
                return Err(NoRun::TimeIsUp);
            }
            runs += 1;
            Ok(self.fails_with(choices)?)
        };
        let left = shrink(&original, fails)?;
        fs::write(&file, self.text(&left)).with_context(|| format!("can't write {}", file.display()))?;
        let story = story(&self.log(Some(&file))?);
        let of = original.iter().filter(|choice| choice.value > 0).count();
        Ok(Some(Shrunk { file, story, of, runs }))
    }

    fn fails_with(&self, choices: &[Choice]) -> Result<bool> {
        let replay = self.place.choices();
        fs::write(&replay, self.text(choices))?;
        let files = Files { replay: Some(replay), log: None };
        let run = self.place.run_with(self.test, self.seed, self.limit, Output::Kept, &files)?;
        if run.status.is_none() || run.has_passed() {
            return Ok(false);
        }
        let output = fs::read(self.place.output())?;
        Ok(Ending::of(&run, &String::from_utf8_lossy(&output), self.limit).reason == self.ending.reason)
    }

    fn log(&self, replay: Option<&Path>) -> Result<String> {
        let log = self.place.run_logged(self.test, self.seed, self.limit, "log-1", replay)?;
        Ok(log.unwrap_or_default())
    }

    fn text(&self, choices: &[Choice]) -> String {
        let lines: String = choices.iter().map(|Choice { value, kind }| format!("{value} {kind}\n")).collect();
        format!("{SEED}{:x}\n{lines}", self.seed)
    }
}
