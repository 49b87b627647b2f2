//! The entries of a directory, read in batches.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::future::poll_fn;
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gmp_exec::task::{AtShutdown, JoinHandle};

use super::{background, pending_writes};

/// Lists a directory.
///
/// # Errors
///
/// The directory does not exist, or may not be read.
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// let mut entries = gmp_io::fs::read_dir("/").await?;
/// let mut names = Vec::new();
/// while let Some(entry) = entries.next_entry().await? {
///     names.push(entry.file_name());
/// }
/// assert!(names.iter().any(|name| name == "tmp"));
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let first = background::run(AtShutdown::Wait, || fs::read_dir(path).map(Batch::read)).await?;
    Ok(ReadDir(Reading::Here(first)))
}

/// About as many entries as the standard library reads from the system at a time, in 32 KiB.
const BATCH: usize = 512;

/// The entries of a directory, in no order and without `.` and `..`, from [`read_dir`].
///
/// An entry that is created or removed in the meantime may be included or not.
#[derive(Debug)]
#[must_use = "entries are read when they are asked for"]
pub struct ReadDir(Reading);

#[derive(Debug)]
enum Reading {
    Here(Batch),
    /// The next batch is being read.
    Awaited(JoinHandle<Batch>),
    /// All entries were returned, or reading can't go on.
    Over,
}

/// Entries that have been read, and the source of more.
#[derive(Debug)]
struct Batch {
    entries: VecDeque<io::Result<DirEntry>>,
    /// `None` after the last one.
    more: Option<fs::ReadDir>,
}

impl ReadDir {
    /// The next entry; `None` after the last one.
    ///
    /// # Errors
    ///
    /// The error of the system call. More entries may follow.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime and more entries must be read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the entry stays for the next call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// let mut entries = gmp_io::fs::read_dir("/").await?;
    /// let mut n = 0;
    /// while let Some(_entry) = entries.next_entry().await? {
    ///     n += 1;
    /// }
    /// assert!(n > 0);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// Polls for the next entry: see [`next_entry`](ReadDir::next_entry).
    ///
    /// Of several tasks that call this, only the last one is woken.
    ///
    /// # Errors
    ///
    /// As for [`next_entry`](ReadDir::next_entry).
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            match &mut self.0 {
                Reading::Here(batch) => {
                    if let Some(entry) = batch.entries.pop_front() {
                        return Poll::Ready(entry.map(Some));
                    }
                    self.0 = match batch.more.take() {
                        Some(more) => Reading::Awaited(background::start(AtShutdown::Wait, || Batch::read(more))?),
                        None => Reading::Over,
                    };
                }
                Reading::Awaited(reading) => {
                    let outcome = ready!(Pin::new(reading).poll(cx));
                    self.0 = Reading::Over;
                    self.0 = Reading::Here(outcome.map_err(background::failed)?);
                }
                Reading::Over => return Poll::Ready(Ok(None)),
            }
        }
    }
}

impl Batch {
    /// An error ends the batch, so that the caller gets it before more is read.
    fn read(mut from: fs::ReadDir) -> Batch {
        let mut entries = VecDeque::with_capacity(BATCH);
        while entries.len() < BATCH {
            let Some(entry) = from.next() else { return Batch { entries, more: None } };
            let is_error = entry.is_err();
            entries.push_back(entry.map(DirEntry::new));
            if is_error {
                break;
            }
        }
        Batch { entries, more: Some(from) }
    }
}

/// An entry of a directory, from [`ReadDir`].
#[derive(Debug)]
pub struct DirEntry {
    std: Arc<fs::DirEntry>,
    /// Most file systems return it with the name.
    file_type: Option<FileType>,
}

impl DirEntry {
    fn new(std: fs::DirEntry) -> DirEntry {
        DirEntry { file_type: std.file_type().ok(), std: Arc::new(std) }
    }

    /// The path: the one given to [`read_dir`], followed by the name.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// The name.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// gmp_io::fs::write(&path, b"").await?;
    /// let mut entries = gmp_io::fs::read_dir(directory.path()).await?;
    /// let entry = entries.next_entry().await?.expect("one entry");
    /// assert_eq!(entry.file_name(), "file");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// The number of the inode.
    pub fn ino(&self) -> u64 {
        self.std.ino()
    }

    /// Returns the metadata of the entry itself. Does not follow symbolic links.
    ///
    /// # Errors
    ///
    /// The entry has been removed; else the error of the system call.
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
    /// gmp_io::fs::write(&path, b"hello").await?;
    /// let mut entries = gmp_io::fs::read_dir(directory.path()).await?;
    /// let entry = entries.next_entry().await?.expect("one entry");
    /// assert_eq!(entry.metadata().await?.len(), 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        pending_writes::written(&self.path()).await;
        let std = self.std.clone();
        background::run(AtShutdown::Wait, move || std.metadata()).await
    }

    /// Returns whether the entry itself is a file, a directory, a symbolic link or something else.
    ///
    /// # Errors
    ///
    /// The entry has been removed; else the error of the system call.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime and the directory did not contain the answer.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// gmp_io::fs::write(&path, b"").await?;
    /// let mut entries = gmp_io::fs::read_dir(directory.path()).await?;
    /// let entry = entries.next_entry().await?.expect("one entry");
    /// assert!(entry.file_type().await?.is_file());
    /// assert_eq!(entry.path(), path);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn file_type(&self) -> io::Result<FileType> {
        if let Some(file_type) = self.file_type {
            return Ok(file_type);
        }
        let std = self.std.clone();
        background::run(AtShutdown::Wait, move || std.file_type()).await
    }
}
