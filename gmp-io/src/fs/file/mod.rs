//! An open file.
//!
//! A read that may block can't lend the caller's buffer to the thread that blocks, because the
//! caller may stop waiting. So a buffer is in between, and causes the surprising behaviour of a
//! file: written data may not have arrived yet, and data may have been read that the task no longer
//! wants.

mod buffer;
mod descriptor;
mod progress;
mod read;
mod seek;
mod whole;
mod write;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::{fmt, fs, io};

use gmp_exec::bridge::filter_has_come;
use tokio::sync::Mutex;

use self::progress::Progress;
use self::read::Reads;
use super::OpenOptions;
use crate::sys::{Identity, file};

/// As on tokio: the most that one operation reads or writes.
const DEFAULT_MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// An open file.
///
/// Read, write and seek through [`AsyncRead`](crate::io::AsyncRead),
/// [`AsyncWrite`](crate::io::AsyncWrite) and [`AsyncSeek`](crate::io::AsyncSeek). Operations are
/// carried out one after the other: each waits for the previous one, even if the task that began
/// the previous one has stopped waiting.
///
/// *Reading* returns cached data at once. Other data is read in the background, into a buffer of
/// the file. If the task stops waiting, the data is kept for the next read. A file that shares its
/// cursor ([`try_clone`](File::try_clone), [`from_std`](File::from_std)) is always read in the
/// background: the system lets one handle at a time use the cursor, and the others wait. A
/// descriptor duplicated through [`AsFd`](std::os::fd::AsFd) is not known here; while it is in use,
/// reading this file may block the thread.
///
/// *Writing* accepts a copy of the data, at most [`max_buf_size`](File::max_buf_size) bytes, and
/// writes it in the background. An error is reported by the next write or [`flush`], so call
/// [`flush`] before dropping the file. Accepted data is written even if the file is dropped or the
/// runtime ends, but then errors are not reported. On Linux, later operations on the file, through
/// this handle or any function of this module, wait until the data is written. That helps programs
/// that forget the flush, but does not replace it.
///
/// A flush passes the data to the system; [`sync_all`](File::sync_all) waits until it is on the
/// disk.
///
/// [`flush`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncWriteExt.html#method.flush
///
/// # Panics
///
/// All operations panic outside of a runtime, even if the data is cached.
///
/// # Cancel safety
///
/// A read that is cancelled loses nothing. A single `write` has happened if and only if it was
/// accepted; a cancelled `write_all` may have written a part.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let path = std::env::temp_dir().join(format!("gmp-fs-file-{}", std::process::id()));
/// use gmp_io::fs::File;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let mut file = File::create(&path).await?;
/// file.write_all(b"hello").await?;
/// file.flush().await?;
///
/// let mut text = String::new();
/// File::open(&path).await?.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # gmp_io::fs::remove_file(&path).await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct File {
    std: Arc<fs::File>,
    progress: Mutex<Progress>,
    reads: Reads,
    max_buf_size: usize,
    number: Number,
}

/// The regular file that this is, found out when needed. `None` inside: it is not a regular file,
/// or that can't be found out, or a filter of system calls has come.
#[derive(Debug, Default)]
struct Number(OnceLock<Option<Identity>>);

impl Number {
    fn of(&self, std: &fs::File) -> Option<Identity> {
        *self.0.get_or_init(|| if filter_has_come() { None } else { file::identity_of(std) })
    }
}

impl File {
    /// Opens a file for reading. A regular file whose name is cached is opened at once.
    ///
    /// # Errors
    ///
    /// The error of the system call: the file does not exist, or may not be read.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::fs::File;
    ///
    /// let file = File::open("/").await?;
    /// assert!(file.metadata().await?.is_dir());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().read(true).open(path).await
    }

    /// Opens a file for writing. The file is created if it does not exist, and truncated if it
    /// does.
    ///
    /// # Errors
    ///
    /// The error of the system call: the file can't be created, or may not be written.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::{self, File};
    ///
    /// fs::write(&path, b"contents").await?;
    /// File::create(&path).await?;
    /// assert!(fs::read(&path).await?.is_empty(), "truncated");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().write(true).create(true).truncate(true).open(path).await
    }

    /// Creates a file, and opens it for reading and writing.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the path exists; else the error of the system call.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let path = std::env::temp_dir().join(format!("gmp-fs-new-{}", std::process::id()));
    /// use gmp_io::fs::File;
    ///
    /// let file = File::create_new(&path).await?;
    /// let error = File::create_new(&path).await.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    /// # gmp_io::fs::remove_file(&path).await?;
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(path).await
    }

    /// The same as [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Converts a file that was opened elsewhere. It may be anything that can be read and written,
    /// such as a pipe or a terminal.
    ///
    /// Other handles may share the same open file, and while one uses the cursor, the system makes
    /// the others wait. So the file is read in the background, even if its data is cached.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::fs::File;
    /// use tokio::io::AsyncReadExt;
    ///
    /// let mut zeros = File::from_std(std::fs::File::open("/dev/zero")?);
    /// assert_eq!(zeros.read_u32().await?, 0);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn from_std(std: fs::File) -> File {
        File::new(std, Progress::with_shared_cursor())
    }

    /// A file that was just opened, so no other handle shares its cursor.
    pub(super) fn just_opened(std: fs::File) -> File {
        File::new(std, Progress::default())
    }

    fn new(std: fs::File, progress: Progress) -> File {
        File {
            std: Arc::new(std),
            progress: Mutex::new(progress),
            reads: Reads::default(),
            max_buf_size: DEFAULT_MAX_BUF_SIZE,
            number: Number::default(),
        }
    }

    /// Sets the most bytes that one read returns or one write accepts. The default is 2 MiB.
    ///
    /// # Panics
    ///
    /// If `max_buf_size` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::fs::File;
    ///
    /// let mut file = File::open("/dev/zero").await?;
    /// file.set_max_buf_size(4096);
    /// assert_eq!(file.max_buf_size(), 4096);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.max_buf_size = max_buf_size;
    }

    /// The most bytes that one read returns or one write accepts.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }
}

/// Formats under tokio's name: logs and snapshots must not change with the runtime, and another
/// name without the drop-in would need a `cfg`.
impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("tokio::fs::File").field("std", &self.std).finish()
    }
}
