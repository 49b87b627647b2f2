//! An open file.
//!
//! A read that may block can't lend the caller's buffer to the thread that blocks, because the caller may stop waiting. So
//! there is a buffer in between, and with it everything that surprises about a file: what was written may be on its way
//! still, and what was read may not have been asked for any more.

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

use tokio::sync::Mutex;

use self::progress::Progress;
use self::read::Reads;
use super::OpenOptions;
use crate::sys::{Identity, file};

/// As on tokio: the most that is read or written in one go.
const DEFAULT_MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// An open file.
///
/// It is read and written through [`AsyncRead`](crate::io::AsyncRead), [`AsyncWrite`](crate::io::AsyncWrite) and
/// [`AsyncSeek`](crate::io::AsyncSeek). Operations come one after the other: each waits for the one before it, even if the
/// task that had begun that one has lost interest.
///
/// *Reading* takes what is in memory at once. What is not is read in the background, into a buffer
/// of the file's. If the task stops waiting, the data is there for the next read. A file that
/// shares its cursor ([`try_clone`](File::try_clone), [`from_std`](File::from_std)) is always read
/// in the background: the system lets one use the cursor at a time, and the others wait. A
/// descriptor that is duplicated by way of [`AsFd`](std::os::fd::AsFd) is not known here; while it
/// is being used, reading this file may block the thread.
///
/// *Writing* accepts a copy of the data, [`max_buf_size`](File::max_buf_size) bytes at most, and
/// carries the write out in the background. An error is reported by the next write or [`flush`], so
/// call [`flush`] before dropping the file. What was accepted is written even if the file is
/// dropped or the runtime ends; but whether that worked, and when, nobody learns. On Linux, whoever
/// reads the file or asks about it after that, through this handle or through any other function of
/// this module, waits until it is written. That is a help for programs that forget the flush, no
/// replacement for it.
///
/// A flush hands the data to the system; [`sync_all`](File::sync_all) sees to it that it is on the disk.
///
/// [`flush`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncWriteExt.html#method.flush
///
/// # Panics
///
/// All operations need a current runtime, also if what they want is in memory.
///
/// # Cancel safety
///
/// A read that is cancelled loses nothing. A write of a part (`write`) has happened if it was accepted and not otherwise;
/// `write_all` may have written a part when it is cancelled.
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

/// Which regular file it is, found out when it is needed; `None` inside: it is none, or that can't
/// be found out.
#[derive(Debug, Default)]
struct Number(OnceLock<Option<Identity>>);

impl Number {
    fn of(&self, std: &fs::File) -> Option<Identity> {
        *self.0.get_or_init(|| file::identity_of(std))
    }
}

impl File {
    /// Opens a file for reading. A regular file whose name is in memory is opened at once.
    ///
    /// # Errors
    ///
    /// The system's: there is no such file, or no right to read it.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().read(true).open(path).await
    }

    /// Opens a file for writing. It is made if it is not there, and emptied if it is.
    ///
    /// # Errors
    ///
    /// The system's: it can't be made, or no right to write it.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().write(true).create(true).truncate(true).open(path).await
    }

    /// Makes a file, and opens it for reading and writing.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if there is one already, or anything else of that name; otherwise the system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
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

    /// A file that was opened elsewhere. It may be anything that reads and writes, a pipe or a terminal for instance.
    ///
    /// Somebody else may have the same open file, and whoever uses its cursor waits for them in the
    /// system. So it is read in the background, even what is in memory.
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

    /// A file that has just been opened, and that nobody else can have.
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

    /// Sets the most bytes that one read brings or one write accepts; 2 MiB if never set.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.max_buf_size = max_buf_size;
    }

    /// The most bytes that one read brings or one write accepts.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }
}

/// Under tokio's name in any case: logs and snapshots that are made with it must not change with
/// the runtime, and a name of its own without the drop-in would need a `cfg` for a word.
impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("tokio::fs::File").field("std", &self.std).finish()
    }
}
