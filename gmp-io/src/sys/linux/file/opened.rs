//! Opening files for reading.
//!
//! Before a path is opened, it has to be known where it leads to. Looking takes three of seven
//! system calls and nearly half of the time of a small read. So a path that is read as a whole is
//! not looked at again for a moment: see `known_paths`.
//!
//! In any case the path may have been redirected by the time it is opened. So the facts about an
//! opened file (kind, file system, size) are those of the descriptor that is read:
//!
//! - If it is a FIFO, `O_NONBLOCK` kept this thread from waiting for a writer, and the background
//!   goes on with the descriptor. Closing it and opening the path again would take the reader away
//!   from a writer that has seen it.
//! - If it is another kind of file, or its file system is not known to be local, it is closed, and
//!   opened again in the background. So a device may be opened twice, and a server may have been
//!   waited for: once for each thread, whenever a path that is being read is redirected like that.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, SeekFrom, fcntl_setfl, seek};
use rustix::io::Errno;

use super::super::file_systems::Locality;
use super::super::known_paths;
use super::{Facts, open_cached, read, resolve};
use crate::sys::{Cached, NotCached};

/// A file that was opened for reading.
pub(crate) struct Opened {
    file: OwnedFd,
    pub(super) facts: Facts,
    /// Whether cached data can be read without blocking, as far as is known.
    reads: bool,
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> Cached<Opened> {
    match look_and_open(path, Instant::now())? {
        Ok(opened) if !opened.facts.is_regular() => Err(NotCached(None)),
        answer => Ok(answer),
    }
}

/// Opens a file that is going to be read as a whole. It is a regular file, or a FIFO of which only
/// the background knows whether there is a writer.
pub(crate) fn open_whole(path: &Path) -> Cached<Opened> {
    let now = Instant::now();
    let known = known_paths::contains(path, now);
    let answer = if known { open_and_check(path, now) } else { look_and_open(path, now) };
    let is_regular = matches!(&answer, Ok(Ok(opened)) if opened.facts.is_regular());
    match (known, is_regular) {
        (false, true) => known_paths::insert(path, now),
        (true, false) => known_paths::forget(path),
        _ => {}
    }
    answer
}

fn look_and_open(path: &Path, now: Instant) -> Cached<Opened> {
    match resolve(path, OFlags::empty(), now)? {
        Ok(resolved) if resolved.facts.is_regular() => open_and_check(path, now),
        Ok(_) => Err(NotCached(None)),
        Err(error) => Ok(Err(error)),
    }
}

/// Opens a path that led to a regular file on a local file system a moment ago.
pub(super) fn open_and_check(path: &Path, now: Instant) -> Cached<Opened> {
    match open_cached(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY) {
        Ok(file) => Opened::check(file, now),
        Err(_) => Err(NotCached(None)),
    }
}

impl Opened {
    /// Trusts nothing that was known of the path.
    fn check(file: OwnedFd, now: Instant) -> Cached<Opened> {
        let Ok(facts) = Facts::of(&file) else { return Err(NotCached(None)) };
        match (facts.kind, facts.device.locality(now)) {
            (FileType::Fifo, _) => Ok(Ok(Opened { file, facts, reads: false })),
            (FileType::RegularFile, Locality::Local { reads }) => Ok(Ok(Opened { file, facts, reads })),
            (FileType::RegularFile, Locality::Unknown) => Err(NotCached(Some(facts.device.unidentified(file)))),
            _ => Err(NotCached(None)),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.facts.size
    }

    /// As [`read`], but a file system that doesn't support it is not asked again.
    pub(crate) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if !self.reads {
            return Err(io::ErrorKind::Unsupported.into());
        }
        read(&self.file, buf).inspect_err(|error| {
            if error.kind() == io::ErrorKind::Unsupported {
                self.facts.device.has_no_reads();
            }
        })
    }

    /// Whether the file, whose cursor is at `position`, ends there now. Takes half as long as a
    /// read or `statx`. Can't block: no other handle has the cursor, and the kernel has the size of
    /// a local file that is open.
    pub(crate) fn ends_at(&self, position: u64) -> io::Result<bool> {
        let end = seek(&self.file, SeekFrom::End(0))?;
        if end != position {
            seek(&self.file, SeekFrom::Start(position))?;
        }
        Ok(end == position)
    }

    /// The file, as if it had been opened in the usual way. If it is a FIFO, this waits for a
    /// writer.
    pub(crate) fn into_file(self) -> File {
        if self.facts.kind == FileType::Fifo {
            wait_for_writer(&self.file);
        }
        // An error changes nothing for a regular file, which is read and written the same with
        // `O_NONBLOCK`. For others there is none.
        let _ = fcntl_setfl(&self.file, OFlags::empty());
        File::from(self.file)
    }
}

/// Waits until a FIFO has data, or until the last writer has left. A FIFO that had no writer when
/// it was opened is at its end only after the first one has come and gone.
fn wait_for_writer(fifo: &OwnedFd) {
    while poll(&mut [PollFd::new(fifo, PollFlags::IN)], None) == Err(Errno::INTR) {}
}
