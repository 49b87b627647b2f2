//! Tasks read a file of 4 KiB by its path; the kernel has it in memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use super::countdown::Countdown;
use crate::rt::{Io, in_task};

/// Reads per round, of all tasks together.
pub(super) const READS: u32 = 1_024;

const SIZE: usize = 4096;

pub(super) fn round<R: Io, const TASKS: u32>(rt: &R) -> Duration {
    let file = TemporaryFile::new();
    let path = file.0.clone();
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..TASKS {
            drop(R::spawn(read_often::<R>(path.clone(), READS / TASKS, countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn read_often<R: Io>(path: PathBuf, reads: u32, countdown: Countdown) {
    for _ in 0..reads {
        let content = R::read(&path).await.expect("the file is there until the round has ended");
        assert_eq!(content.len(), SIZE, "the file is read to its end");
    }
    countdown.decrement();
}

/// A file that is in the kernel's memory because it was just written; removed when this value is
/// dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new() -> Self {
        let path = env::temp_dir().join(format!("gmp-benches-{}", process::id()));
        fs::write(&path, [7; SIZE]).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        TemporaryFile(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            eprintln!("gmp-benches: cannot remove {}: {error}", self.0.display());
        }
    }
}
