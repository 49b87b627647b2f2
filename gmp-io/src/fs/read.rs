//! Reading whole files by path.

use std::fs;
use std::future::poll_fn;
use std::io::{self, Read};
use std::path::Path;
use std::task::{Context, Poll, ready};

use gmp_exec::task::{AtShutdown, coop};

use super::{background, inline, pending_writes};
use crate::sys::file::{self, Opened};

/// The most that is read from the kernel at a time.
const CHUNK: usize = 1 << 20;

/// Pages are multiples of this on all systems.
const PAGE: usize = 4096;

/// Reads a whole file.
///
/// A regular file that is cached is read at once, on the calling thread; any other in the
/// background.
///
/// # Errors
///
/// The error of the system call: the file does not exist, is a directory, may not be read, or does
/// not fit into memory.
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Cancel safety
///
/// Nothing is lost if the future is dropped. A read in the background goes on, and its result is
/// dropped.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let path = std::env::temp_dir().join(format!("gmp-fs-read-{}", std::process::id()));
/// use gmp_io::fs;
///
/// fs::write(&path, b"some bytes").await?;
/// assert_eq!(fs::read(&path).await?, b"some bytes");
/// # fs::remove_file(&path).await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "ReadFile")]
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    pending_writes::written(path.as_ref()).await;
    let found = inline::ask(
        path.as_ref(),
        |path| file::open_whole(path).map(|opened| opened.map(Found::Open)),
        AtShutdown::Abandon,
        |path| fs::read(path).map(Found::Contents),
    );
    match found.await? {
        Found::Open(file) => read_opened(file).await,
        Found::Contents(contents) => Ok(contents),
    }
}

/// Reads a whole file as UTF-8.
///
/// # Errors
///
/// `InvalidData` if the contents are not UTF-8; else as [`read`].
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Cancel safety
///
/// As [`read`].
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// let status = gmp_io::fs::read_to_string("/proc/self/status").await?;
/// assert!(status.lines().count() > 1);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let bytes = read(path).await?;
    if bytes.len() > CHUNK {
        // Checking every byte takes as long as a poll may.
        return background::run(AtShutdown::Wait, move || into_string(bytes)).await;
    }
    into_string(bytes)
}

fn into_string(bytes: Vec<u8>) -> io::Result<String> {
    // The standard library's message.
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

enum Found {
    Open(Opened),
    Contents(Vec<u8>),
}

/// Reads cached pages here, and from the first page that isn't cached all the rest in the
/// background.
async fn read_opened(file: Opened) -> io::Result<Vec<u8>> {
    let mut contents = Contents::with_room_for(file.size())?;
    loop {
        match poll_fn(|cx| contents.poll_chunk(cx, &file)).await? {
            Chunk::Read => {}
            Chunk::End => return Ok(contents.bytes),
            Chunk::WouldBlock => break,
        }
    }
    background::run(AtShutdown::Abandon, move || {
        file.into_file().read_to_end(&mut contents.bytes)?;
        Ok(contents.bytes)
    })
    .await
}

/// The part of a file that has been read.
struct Contents {
    bytes: Vec<u8>,
    /// The file's size when it was opened. It may have grown or shrunk since, and some file systems
    /// do not report it.
    expected: usize,
}

enum Chunk {
    Read,
    End,
    WouldBlock,
}

impl Contents {
    fn with_room_for(size: u64) -> io::Result<Contents> {
        let expected = usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(expected.saturating_add(1))?;
        Ok(Contents { bytes, expected })
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>, file: &Opened) -> Poll<io::Result<Chunk>> {
        let unit = ready!(coop::poll_proceed(cx));
        let held = self.bytes.len();
        let chunk = self.read_chunk(file)?;
        if !matches!(chunk, Chunk::WouldBlock) {
            unit.made_progress();
            inline::charge(cx, self.bytes.len() - held);
        }
        Poll::Ready(Ok(chunk))
    }

    fn read_chunk(&mut self, file: &Opened) -> io::Result<Chunk> {
        let held = self.bytes.len();
        let room = self.room();
        self.bytes.try_reserve(room)?;
        self.bytes.resize(held + room, 0);
        let outcome = file.read(&mut self.bytes[held..]);
        self.bytes.truncate(held + outcome.as_ref().map_or(0, |n| *n));
        Ok(match outcome {
            Ok(0) => Chunk::End,
            Ok(n) if n < room && held + n == self.expected && is_end(held + n, file)? => Chunk::End,
            Ok(_) => Chunk::Read,
            Err(_) => Chunk::WouldBlock,
        })
    }

    /// One byte more than is expected: a read that stops short of it, exactly at the size, has
    /// probably seen the end of the file, which saves another read. Beyond the expected size as
    /// many bytes as there are, within limits.
    fn room(&self) -> usize {
        match (self.expected + 1).checked_sub(self.bytes.len()) {
            Some(missing) if missing > 0 => missing.min(CHUNK),
            _ => self.bytes.len().clamp(32, CHUNK),
        }
    }
}

/// Whether a read from memory that stopped at `position` did so because the file ends there. At the
/// end of a page it also stops if the next page isn't cached, and the file may have grown since it
/// was opened.
fn is_end(position: usize, file: &Opened) -> io::Result<bool> {
    Ok(position % PAGE != 0 || file.ends_at(position as u64)?)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Advice, fadvise};

    use super::*;
    use crate::sys::NotCached;

    /// Opens a file as [`read`] does, without a runtime. `None` where that can't be done without
    /// blocking.
    fn opened(path: &Path) -> Option<Opened> {
        if let Err(NotCached(Some(unidentified))) = file::open_whole(path) {
            unidentified.identify();
        }
        file::open_whole(path).ok().map(|opened| opened.expect("opened"))
    }

    /// The pages beyond the old size are not cached, so the read from memory stops before them.
    #[test]
    fn a_file_that_is_written_again_after_it_was_opened_is_read_to_its_end() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (before, after) in [(PAGE, 2 * PAGE), (100, 2 * PAGE), (0, PAGE), (4 * PAGE, 5 * PAGE + 1), (PAGE, 100)] {
            fs::write(file.path(), vec![7; before]).expect("written");
            let Some(opened) = opened(file.path()) else { continue };
            fs::write(file.path(), vec![8; after]).expect("written again");
            file.as_file().sync_all().expect("on the disk");
            fadvise(file.as_file(), before as u64, None, Advice::DontNeed).expect("forgotten");
            let runtime = gmp_exec::runtime::Runtime::new().expect("a runtime");
            let contents = runtime.block_on(read_opened(opened)).expect("read");
            assert!(contents == vec![8; after], "{} of {after} bytes", contents.len());
        }
    }
}
