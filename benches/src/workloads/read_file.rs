//! Tasks read a file of 4 KiB by its path; the kernel has it in memory.

use std::io::Write;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::countdown::crowd;
use crate::rt::Io;

/// Reads per round, of all tasks together.
pub(super) const READS: u32 = 1_024;

const SIZE: usize = 4096;

pub(super) fn round<R: Io, const TASKS: u32>(rt: &R) -> Duration {
    // A file that was just written is in the kernel's memory.
    let mut file = NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(&[7; SIZE]).expect("4 KiB can be written");
    let path = file.path().to_owned();
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
