//! `cargo gmp test --seeds`: each test under many seeds, on all cores.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use signal_hook::consts::SIGINT;

use super::again::CommandLine;
use super::ending::Ending;
use super::json;
use super::kept::Kept;
use super::listing::Test;
use super::plan::{Job, Plan};
use super::process::{Output, Place, Run};
use super::repeat::{self, Difference};
use super::request::Options;
use super::shrunk::{Case, Shrunk};
use super::tell::Teller;
use crate::project::Project;

/// One of so many seeds is run twice, the first one always.
const SEEDS_PER_CHECK: u64 = 16;

/// What is known of a test.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// Under so many seeds it ran, those that were kept included.
    pub(super) seeds: u64,
    pub(super) outcome: Outcome,
    /// Two runs under a seed were not the same.
    pub(super) difference: Option<(u64, Difference)>,
}

#[derive(Debug, Default)]
pub(super) enum Outcome {
    #[default]
    Passed,
    /// The program has no gmp in it, so one run is as good as many.
    WithoutSeeds,
    Failed(Failure),
}

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) seed: u64,
    pub(super) ending: Ending,
    pub(super) time: Duration,
    text: String,
    /// The file with the whole text.
    pub(super) output: PathBuf,
    pub(super) shrunk: Option<Shrunk>,
}

#[cfg(test)]
impl Failure {
    pub(super) fn new(seed: u64, reason: &str) -> Failure {
        let ending = Ending { reason: reason.to_owned(), details: Vec::new() };
        Failure { seed, ending, time: Duration::ZERO, text: String::new(), output: PathBuf::new(), shrunk: None }
    }
}

impl Tried {
    pub(super) fn outcome(&self) -> &'static str {
        match self.outcome {
            Outcome::Passed if self.seeds == 0 => "not tried",
            Outcome::Passed => "passed",
            Outcome::WithoutSeeds => "without seeds",
            Outcome::Failed(_) => "failed",
        }
    }
}

/// All that the threads share.
struct Book<'a> {
    plan: Plan,
    tried: Vec<Tried>,
    kept: Kept,
    teller: Teller<'a>,
}

struct Explorer<'a> {
    tests: &'a [Test],
    options: &'a Options,
    /// For the output of failures.
    folder: PathBuf,
    was_interrupted: Arc<AtomicBool>,
    book: Mutex<Book<'a>>,
}

/// Returns whether no test has failed.
pub(super) fn explore(
    tests: &[Test],
    options: &Options,
    kept: Kept,
    project: &Project,
    again: &CommandLine,
) -> Result<bool> {
    if let Some(path) = &options.json {
        // Before the runs, which may take long, if the file can't be written.
        json::write(path, &[], &[])?;
    }
    let folder = project.seeds_directory();
    let places = tempfile::tempdir_in(&folder)?;
    let of_kept =
        tests.iter().enumerate().flat_map(|(index, test)| kept.seeds(test).into_iter().map(move |seed| (index, seed)));
    let of_kept = of_kept.collect();
    let first = options.first.unwrap_or_else(any_seed);
    let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
    let plan = Plan::new(of_kept, tests.len(), first, options.seeds, deadline);
    let teller = Teller::new(tests, options, first, plan.left(), again);
    let tried = tests.iter().map(|_| Tried::default()).collect();
    let was_interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, was_interrupted.clone())?;
    let book = Mutex::new(Book { plan, tried, kept, teller });
    let explorer = Explorer { tests, options, folder, was_interrupted, book };
    explorer.run_all(places.path())?;
    explorer.book().plan.begin_others();
    explorer.run_all(places.path())?;
    let is_interrupted = explorer.was_interrupted.load(Ordering::Relaxed);
    let book = explorer.book.into_inner().expect("no thread has panicked");
    book.teller.finish(&book.tried);
    if let Some(path) = &options.json {
        json::write(path, tests, &book.tried)?;
    }
    ensure!(!is_interrupted, "interrupted");
    Ok(!book.tried.iter().any(|tried| matches!(tried.outcome, Outcome::Failed(_))))
}

/// Systems limit names of files to 255 bytes, and macros make long names of tests.
fn file_name(test: &str, seed: u64) -> String {
    let test: String = test.replace('/', "_").chars().take(200).collect();
    format!("{test}-{seed:x}.txt")
}

/// A short one, because people type seeds.
fn any_seed() -> u64 {
    RandomState::new().hash_one(0) & 0xff_ffff
}

impl<'a> Explorer<'a> {
    /// Runs on all cores, until the plan has no more.
    fn run_all(&self, places: &Path) -> Result<()> {
        let threads = thread::available_parallelism().map_or(1, |count| count.get());
        thread::scope(|scope| {
            let start = |number| {
                let place = Place::make(places, number, self.options.mode)?;
                Ok(scope.spawn(move || self.run_some(&place)))
            };
            let threads = (0..threads).map(start).collect::<Result<Vec<_>>>()?;
            threads.into_iter().try_for_each(|thread| thread.join().expect("errors are returned"))
        })
    }

    fn run_some(&self, place: &Place) -> Result<()> {
        while let Some(job) = self.next() {
            // The others would go on to the end.
            self.run(place, job).inspect_err(|_| self.book().plan.end())?;
        }
        Ok(())
    }

    fn next(&self) -> Option<Job> {
        self.book().plan.next()
    }

    fn book(&self) -> MutexGuard<'_, Book<'a>> {
        self.book.lock().expect("no thread has panicked")
    }

    fn run(&self, place: &Place, job: Job) -> Result<()> {
        let test = &self.tests[job.test];
        let run = place.run(test, job.seed, self.options.timeout, Output::Kept)?;
        // Ctrl-C has reached the test, too.
        if self.was_interrupted.load(Ordering::Relaxed) {
            self.book().plan.end();
            return Ok(());
        }
        let mut failure = if run.has_passed() { None } else { Some(self.failure(place, job, &run)?) };
        let difference = if self.is_checked(job, &run) {
            repeat::difference(place, test, job.seed, &run, self.options.timeout)?
        } else {
            None
        };
        if let Some(failure) = &mut failure {
            self.need_no_more(job.test);
            if run.status.is_some() && run.report.is_some() && difference.is_none() {
                failure.shrunk = self.shrunk(place, job, &run, failure)?;
            }
        }
        self.note(job, &run, failure, difference)
    }

    /// A failure of this test is known.
    fn need_no_more(&self, test: usize) {
        let plan = &mut self.book().plan;
        plan.finish(test);
        if self.options.is_fail_fast {
            plan.end();
        }
    }

    fn shrunk(&self, place: &Place, job: Job, run: &Run, failure: &Failure) -> Result<Option<Shrunk>> {
        // With other choices the test may hang.
        let limit = self.options.timeout.min(run.time * 10 + Duration::from_secs(1));
        let (test, ending) = (&self.tests[job.test], &failure.ending);
        let case = Case { place, test, seed: job.seed, ending, limit };
        let is_over = || self.was_interrupted.load(Ordering::Relaxed);
        case.shrunk(failure.output.with_extension("choices"), is_over)
    }

    /// All that fails is run again, because a failure that does not repeat has to be told as such.
    fn is_checked(&self, job: Job, run: &Run) -> bool {
        let is_due = self.options.checks_all || job.number.is_some_and(|number| number % SEEDS_PER_CHECK == 1);
        let is_known = || self.book().tried[job.test].difference.is_some();
        run.status.is_some() && run.report.is_some() && (is_due || !run.has_passed()) && !is_known()
    }

    fn failure(&self, place: &Place, job: Job, run: &Run) -> Result<Failure> {
        let test = &self.tests[job.test];
        let output = self.folder.join(file_name(&test.full_name(), job.seed));
        let text = String::from_utf8_lossy(&fs::read(place.output())?).into_owned();
        let ending = Ending::of(run, &text, self.options.timeout);
        Ok(Failure { seed: job.seed, ending, time: run.time, text, output, shrunk: None })
    }

    fn note(&self, job: Job, run: &Run, failure: Option<Failure>, difference: Option<Difference>) -> Result<()> {
        let test = &self.tests[job.test];
        let mut book = self.book();
        let book = &mut *book;
        let tried = &mut book.tried[job.test];
        // Another thread may have seen a failure of this test just now.
        if matches!(tried.outcome, Outcome::Failed(_)) {
            return Ok(());
        }
        tried.seeds += 1;
        if let Some(difference) = difference.filter(|_| tried.difference.is_none()) {
            book.teller.not_repeatable(test, job.seed, &difference);
            tried.difference = Some((job.seed, difference));
        }
        if let Some(failure) = failure {
            let file = &failure.output;
            fs::write(file, &failure.text).with_context(|| format!("can't write {}", file.display()))?;
            // What was ended for the real time that it took may pass on another computer.
            if run.status.is_some() {
                book.kept.add(test, job.seed)?;
            }
            book.teller.failed(test, job, &failure, tried.difference.is_none());
            tried.outcome = Outcome::Failed(failure);
        } else if run.report.is_none() {
            tried.outcome = Outcome::WithoutSeeds;
            book.plan.finish(job.test);
        }
        book.teller.progress(book.plan.left());
        if !book.teller.is_heard {
            book.plan.end();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_a_name_for_its_files() {
        assert_eq!(file_name("app::bin/tool::works", 0x5f), "app::bin_tool::works-5f.txt");
        assert!(file_name(&"a_long_case::".repeat(30), u64::MAX).len() < 255);
    }
}
