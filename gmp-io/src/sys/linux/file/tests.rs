//! What a path leads to changes between a look at it and the opening.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{FileType, mknodat};
use tempfile::TempDir;

use super::super::known_paths;
use super::opened::open_and_check;
use super::*;

/// A regular file on a file system that is not known to be local.
const NOT_LOCAL: &str = "/proc/self/comm";

/// Whether the kernel opens that file through cached names: since 5.16. Older ones return an error,
/// and nothing depends on the checks that follow.
fn would_open_not_local() -> bool {
    fs::read(NOT_LOCAL).expect("read");
    open_cached(Path::new(NOT_LOCAL), OFlags::RDONLY).is_ok()
}

/// A directory with a regular file in it, which the calling thread has looked at.
struct Known {
    began: Instant,
    path: PathBuf,
    directory: TempDir,
}

impl Known {
    /// `None` where files can't be opened without blocking.
    fn new(contents: &[u8]) -> Option<Known> {
        let directory = tempfile::tempdir().expect("a directory");
        let known = Known { began: Instant::now(), path: directory.path().join("file"), directory };
        fs::write(&known.path, contents).expect("written");
        identified(&known.path)?;
        assert!(known.is_known(), "after the first look");
        assert!(opened(&known.path).facts.is_regular());
        assert!(known.is_known(), "it still leads to such a file");
        Some(known)
    }

    /// Whether the path is remembered, for however long this thread was not running since.
    fn is_known(&self) -> bool {
        known_paths::contains(&self.path, self.began)
    }

    fn stays_known(&self) {
        known_paths::insert(&self.path, Instant::now() + Duration::from_secs(60));
    }

    /// Puts what `make` makes in the place of the file.
    fn replace(&self, make: impl FnOnce(&Path)) {
        let other = self.directory.path().join("other");
        make(&other);
        fs::rename(other, &self.path).expect("renamed");
        self.stays_known();
    }
}

/// Opens the file, after its file system was identified if need be.
fn identified(path: &Path) -> Option<Opened> {
    for _ in 0..2 {
        match open_whole(path) {
            Ok(opened) => return Some(opened.expect("opened")),
            Err(NotCached(unidentified)) => unidentified?.identify(),
        }
    }
    None
}

fn opened(path: &Path) -> Opened {
    identified(path).expect("local and cached")
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
}

#[test]
fn the_size_is_that_of_the_file_that_is_read() {
    let Some(known) = Known::new(&[1; 4096]) else { return };
    for size in [8192, 100, 0, 4096] {
        known.replace(|other| fs::write(other, vec![2; size]).expect("written"));
        assert_eq!(opened(&known.path).size(), size as u64);
        assert!(known.is_known());
    }
}

/// It is closed again unread, and not remembered as local.
#[test]
fn a_path_that_leads_to_another_file_system_is_not_read_here() {
    let Some(known) = Known::new(b"contents") else { return };
    if !would_open_not_local() {
        return;
    }
    assert!(identified(Path::new(NOT_LOCAL)).is_none(), "and the process knows it now");
    known.replace(|other| symlink(NOT_LOCAL, other).expect("a link"));
    let answer = open_whole(&known.path).map(|opened| opened.map(|file| file.read(&mut [0; 10])));
    assert!(matches!(answer, Err(NotCached(_))));
    assert!(!known.is_known(), "or each read would open it");
    let device = Facts::of(fs::File::open(NOT_LOCAL).expect("opened")).expect("there").device;
    assert!(!matches!(device.locality(Instant::now()), Locality::Local { .. }), "whatever the reads of it returned");
}

/// The same between the look and the opening that follows it.
#[test]
fn a_path_that_is_redirected_after_the_look_is_not_read_here() {
    if Known::new(b"contents").is_none() || !would_open_not_local() {
        return;
    }
    assert!(matches!(open_and_check(Path::new(NOT_LOCAL), Instant::now()), Err(NotCached(_))));
    assert!(matches!(open_and_check(Path::new("/dev/null"), Instant::now()), Err(NotCached(_))));
    assert!(matches!(open_and_check(Path::new("/"), Instant::now()), Err(NotCached(_))));
}

/// Nothing was known of the file system, or only long ago.
#[test]
fn a_file_system_that_is_not_known_is_identified_first() {
    if Known::new(b"contents").is_none() {
        return;
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    let later = Instant::now() + Duration::from_secs(60);
    assert!(matches!(open_and_check(file.path(), later), Err(NotCached(Some(_)))));
}

#[test]
fn a_directory_or_a_missing_file_is_left_to_the_background() {
    let Some(known) = Known::new(b"contents") else { return };
    fs::remove_file(&known.path).expect("removed");
    known.stays_known();
    assert!(matches!(open_whole(&known.path), Err(NotCached(None))));
    assert!(!known.is_known());
    known.stays_known();
    fs::create_dir(&known.path).expect("a directory");
    assert!(matches!(open_whole(&known.path), Err(NotCached(None))));
    assert!(!known.is_known());
}

#[test]
fn a_fifo_in_place_of_a_file_is_not_read_here() {
    let Some(known) = Known::new(b"contents") else { return };
    known.replace(fifo);
    let file = opened(&known.path);
    assert_eq!(file.read(&mut [0; 10]).expect_err("only in the background").kind(), io::ErrorKind::Unsupported);
    let reads = file.facts.device.locality(Instant::now());
    assert_ne!(reads, Locality::Local { reads: false }, "that says nothing about other files beside it");
    assert!(!known.is_known());
    assert!(matches!(open_whole(&known.path), Err(NotCached(None))), "it is not even opened here again");
}

/// The writer sees the reader that opened the FIFO here, and must not lose it.
#[test]
fn a_fifo_that_was_opened_here_is_read_to_its_end() {
    let Some(known) = Known::new(b"contents") else { return };
    // The writer leaves before the background reads, or comes after it has begun to wait.
    for comes_first in [true, false] {
        known.replace(fifo);
        let file = opened(&known.path);
        let write = || fs::OpenOptions::new().write(true).open(&known.path)?.write_all(b"through the FIFO");
        if comes_first {
            write().expect("there is a reader");
        }
        let reading = std::thread::spawn(move || {
            let mut contents = Vec::new();
            file.into_file().read_to_end(&mut contents).map(|_| contents)
        });
        if !comes_first {
            write().expect("there is a reader");
        }
        assert_eq!(reading.join().expect("no panic").expect("read"), b"through the FIFO");
    }
}

#[test]
fn a_fifo_is_not_opened_as_a_file_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("fifo");
    fifo(&path);
    // As if it had been a regular file when it was looked at.
    known_paths::insert(&path, Instant::now() + Duration::from_secs(60));
    assert!(matches!(open(&path), Err(NotCached(_))));
}
