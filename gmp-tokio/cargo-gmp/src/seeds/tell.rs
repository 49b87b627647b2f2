//! What the user sees: failures when they are found, how far the runs are, and a summary.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::again::CommandLine;
use super::explore::{Failure, Tried};
use super::listing::Test;
use super::plan::Job;
use super::repeat::Difference;
use super::request::Options;
use super::shrunk::Shrunk;
use super::summary;
use crate::counted::counted;
use crate::printed::printed;

/// So many choices are told of a failure.
const MOST_LINES: usize = 10;

#[derive(Debug)]
pub(super) struct Teller<'a> {
    tests: &'a [Test],
    options: &'a Options,
    again: &'a CommandLine,
    bar: ProgressBar,
    start: Instant,
    runs: u64,
    failed: u64,
    /// Somebody reads standard output.
    pub(super) is_heard: bool,
}

impl<'a> Teller<'a> {
    pub(super) fn new(
        tests: &'a [Test],
        options: &'a Options,
        first: u64,
        runs: Option<u64>,
        again: &'a CommandLine,
    ) -> Self {
        let seeds = options.seeds.map(|seeds| format!(" under {}", counted(seeds, "seed")));
        let time = options.time.map(|time| format!(" for {} s", time.as_secs()));
        let [seeds, time] = [seeds, time].map(Option::unwrap_or_default);
        let begin = format!(
            "{}{seeds}{time}, from seed {first:x} on\ndoc tests and benches do not run under seeds\n",
            counted(tests.len() as u64, "test")
        );
        let is_heard = printed(&begin).unwrap_or(false);
        let is_seen = io::stderr().is_terminal() && !tests.is_empty();
        let bar = if is_seen { bar(runs) } else { ProgressBar::hidden() };
        Teller { tests, options, again, bar, start: Instant::now(), runs: 0, failed: 0, is_heard }
    }

    pub(super) fn failed(&mut self, test: &Test, job: Job, failure: &Failure, repeats: bool) {
        self.failed += 1;
        let number = match (job.number, self.options.seeds) {
            (Some(number), Some(seeds)) => format!("{number} of {seeds}"),
            (Some(number), None) => format!("number {number}"),
            (None, _) => "a kept seed".to_owned(),
        };
        let name = test.full_name();
        let (seed, seconds, reason) = (failure.seed, failure.time.as_secs_f64(), &failure.ending.reason);
        let details: String = failure.ending.details.iter().map(|line| format!("    {line}\n")).collect();
        let may_differ = if repeats { "" } else { " (may pass: the test does not repeat)" };
        self.print(&format!(
            "FAILED {name} at seed {seed:x} ({number}, {seconds:.2} s): {reason}\n{details}  again:  {}{may_differ}\n{}  \
             output: {}\n",
            self.again.seed(seed, test, self.tests),
            failure.shrunk.as_ref().map(|shrunk| self.shrunk(test, shrunk)).unwrap_or_default(),
            relative(&failure.output),
        ));
    }

    fn shrunk(&self, test: &Test, shrunk: &Shrunk) -> String {
        let Shrunk { file, story, of, runs } = shrunk;
        let again = self.again.replay(Path::new(&relative(file)), test, self.tests);
        let left = match story.as_slice() {
            [] => "it fails in the ordinary order, too".to_owned(),
            story => format!("{} of {of} choices, all others are the ordinary ones", story.len()),
        };
        let lines: String = story.iter().take(MOST_LINES).map(|line| format!("    {line}\n")).collect();
        let more = story.len().saturating_sub(MOST_LINES);
        let more = if more > 0 { format!("    and {more} more\n") } else { String::new() };
        format!("  shrunk: {left} ({runs} runs)\n{lines}{more}          {again}\n")
    }

    pub(super) fn not_repeatable(&mut self, test: &Test, seed: u64, difference: &Difference) {
        let name = test.full_name();
        let lines = match &difference.lines {
            Some([one, other]) => format!("first \"{one}\", then \"{other}\""),
            None => "with all decisions written down the runs are the same".to_owned(),
        };
        self.print(&format!(
            "NOT REPEATABLE {name}: two runs under seed {seed:x} differ\n  {lines}\n  what lets the outside in: {}\n",
            difference.outside(),
        ));
    }

    /// A run has ended, and so many are left.
    pub(super) fn progress(&mut self, left: Option<u64>) {
        self.runs += 1;
        if let Some(left) = left {
            self.bar.set_length(self.runs + left);
        }
        self.bar.set_position(self.runs);
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let minutes = self.start.elapsed().as_secs_f64() / 60.0;
        self.bar.set_message(format!("{:.0} a minute{failed}", self.runs as f64 / minutes));
    }

    pub(super) fn finish(&self, tried: &[Tried]) {
        self.bar.finish_and_clear();
        // What failed has been told, and the exit code says so.
        let _ = printed(&summary::text(self.tests, tried, self.runs, self.start.elapsed(), self.options.is_fail_fast));
    }

    fn print(&mut self, text: &str) {
        self.is_heard &= self.bar.suspend(|| printed(&format!("{text}\n")).unwrap_or(false));
    }
}

fn bar(runs: Option<u64>) -> ProgressBar {
    let template = if runs.is_some() {
        "[{bar:30}] {pos} of {len} runs, {msg}, {eta} left"
    } else {
        "{pos} runs in {elapsed}, {msg}"
    };
    let style = ProgressStyle::with_template(template).expect("the templates are constant and good");
    runs.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style.progress_chars("##-"))
}

/// The path as seen from the current folder.
fn relative(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
