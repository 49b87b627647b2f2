//! Questions about a path that can often be answered from memory.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use gmp_exec::task::AtShutdown;

use super::{inline, pending_writes};
use crate::sys::file;

/// Returns the metadata of the file that a path leads to, following symbolic links.
///
/// # Errors
///
/// The error of the system call: the file does not exist, or a directory on the way may not be
/// searched.
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// assert!(gmp_io::fs::metadata("/").await?.is_dir());
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "stat")]
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    pending_writes::written(path.as_ref()).await;
    inline::ask(path.as_ref(), file::metadata, AtShutdown::Wait, fs::metadata).await
}

/// Returns the metadata of the file at a path, which may be a symbolic link.
///
/// # Errors
///
/// The error of the system call: the file does not exist, or a directory on the way may not be
/// searched.
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
/// use gmp_io::fs;
///
/// fs::symlink("/", &path).await?;
/// assert!(fs::symlink_metadata(&path).await?.is_symlink());
/// assert!(fs::metadata(&path).await?.is_dir());
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    pending_writes::written(path.as_ref()).await;
    inline::ask(path.as_ref(), file::symlink_metadata, AtShutdown::Wait, fs::symlink_metadata).await
}

/// Returns whether a path leads to a file. Follows symbolic links, so a broken link does not.
///
/// # Errors
///
/// The question can't be answered, for example because a directory on the way may not be searched.
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// assert!(gmp_io::fs::try_exists("/").await?);
/// assert!(!gmp_io::fs::try_exists("/no/such/file").await?);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    inline::ask(path.as_ref(), file::exists, AtShutdown::Wait, fs::exists).await
}
