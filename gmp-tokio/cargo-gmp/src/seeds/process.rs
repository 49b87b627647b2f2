//! One run of a test under a seed.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::listing::Test;
use super::mode::Mode;
use super::report::Report;
use super::system;

/// What came of a run.
#[derive(Debug)]
pub(super) struct Run {
    /// `None`: the run took too long, and was ended.
    pub(super) status: Option<ExitStatus>,
    pub(super) report: Option<Report>,
    pub(super) time: Duration,
}

impl Run {
    pub(super) fn has_passed(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Whether both are the same run, as far as the engine can see. A run without a report has
    /// nothing to compare.
    pub(super) fn is_same(&self, other: &Run) -> bool {
        let hash = |run: &Run| run.report.as_ref().map(|report| report.hash.clone());
        hash(self) == hash(other) && self.has_passed() == other.has_passed()
    }

    pub(super) fn signal(&self) -> Option<i32> {
        self.status?.signal()
    }
}

/// Where a run leaves its files. One run at a time.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    /// `TMPDIR` of the runs. The names of temporary files follow from the seed, so that two runs of one seed
    /// would meet in a folder that they share. It is not below `folder`: the path of a Unix socket is short.
    temporary: TempDir,
    mode: Mode,
}

/// Whether the user sees the test's output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Output {
    Kept,
    Shown,
}

/// Further files of a run.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Gets all decisions and events.
    pub(super) log: Option<PathBuf>,
    /// The choices to make again.
    pub(super) replay: Option<PathBuf>,
}

impl Place {
    /// The names have the same length, because the length of the environment is seen in addresses of
    /// the stack.
    pub(super) fn make(folder: &Path, number: usize, mode: Mode) -> Result<Self> {
        let folder = folder.join(format!("{number:04}"));
        fs::create_dir_all(&folder)?;
        Ok(Place { folder, temporary: TempDir::new()?, mode })
    }

    pub(super) fn run(&self, test: &Test, seed: u64, limit: Duration, output: Output) -> Result<Run> {
        self.run_with(test, seed, limit, output, &Files::default())
    }

    /// All decisions and events of such a run. `None`: the run took too long.
    pub(super) fn run_logged(
        &self,
        test: &Test,
        seed: u64,
        limit: Duration,
        log: &str,
        replay: Option<&Path>,
    ) -> Result<Option<String>> {
        let log = self.folder.join(log);
        let files = Files { log: Some(log.clone()), replay: replay.map(Path::to_owned) };
        let run = self.run_with(test, seed, limit, Output::Kept, &files)?;
        let text = || String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
        Ok(run.status.map(|_| text()))
    }

    pub(super) fn run_with(
        &self,
        test: &Test,
        seed: u64,
        limit: Duration,
        output: Output,
        files: &Files,
    ) -> Result<Run> {
        let report = self.folder.join("report");
        _ = fs::remove_file(&report);
        _ = fs::remove_dir_all(self.temporary.path());
        fs::create_dir_all(self.temporary.path())?;
        let mut command = test.program.command();
        command.args(test.arguments()).env("GMP_SEED", format!("{seed:x}")).env("GMP_SEED_REPORT", &report);
        command.env("TMPDIR", self.temporary.path());
        self.mode.set(&mut command);
        command.envs(files.log.as_ref().map(|log| ("GMP_SEED_LOG", log)));
        command.envs(files.replay.as_ref().map(|choices| ("GMP_SEED_REPLAY", choices)));
        if output == Output::Kept {
            let file = File::create(self.output())?;
            command.stdout(file.try_clone()?).stderr(file);
        }
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("can't start {}", test.program.path.display()))?;
        let status = system::wait(&mut child, limit)?;
        Ok(Run { status, report: Report::read(&report), time: start.elapsed() })
    }

    /// A file for choices that are tried.
    pub(super) fn choices(&self) -> PathBuf {
        self.folder.join("choices")
    }

    /// The file with the output of the last run.
    pub(super) fn output(&self) -> PathBuf {
        self.folder.join("output")
    }
}
