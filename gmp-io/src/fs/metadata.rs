//! Questions about a path that memory can often answer.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use gmp_exec::task::AtShutdown;

use super::{inline, pending_writes};
use crate::sys::file;

/// The metadata of what a path leads to.
///
/// # Errors
///
/// The system's: there is no such file, or no way to it.
///
/// # Panics
///
/// Outside of a runtime.
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
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    pending_writes::written(path.as_ref()).await;
    inline::ask(path.as_ref(), file::metadata, AtShutdown::Wait, fs::metadata).await
}

/// The metadata of what a path names, which may be a symbolic link.
///
/// # Errors
///
/// The system's: there is no such file, or no way to it.
///
/// # Panics
///
/// Outside of a runtime.
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    pending_writes::written(path.as_ref()).await;
    inline::ask(path.as_ref(), file::symlink_metadata, AtShutdown::Wait, fs::symlink_metadata).await
}

/// Whether a path leads to anything. A symbolic link to nothing does not.
///
/// # Errors
///
/// It can't be told: a directory on the way may not be searched, say.
///
/// # Panics
///
/// Outside of a runtime.
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
