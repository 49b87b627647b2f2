//! Tasks read a file of 4 KiB by its path; the kernel has it in memory.

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process};

use super::countdown::crowd;
use crate::rt::Io;

/// Reads per round, of all tasks together.
pub(super) const READS: u32 = 1_024;

const SIZE: usize = 4096;

pub(super) fn round<R: Io, const TASKS: u32>(rt: &R) -> Duration {
    let file = TemporaryFile::new();
    let path = file.0.clone();
    crowd(rt, TASKS, move |_, countdown| {
        let path = path.clone();
        async move {
            for _ in 0..READS / TASKS {
                let content = R::read(&path).await.expect("the file is there until the round has ended");
                assert_eq!(content.len(), SIZE, "the file is read to its end");
            }
            countdown.decrement();
        }
    })
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
