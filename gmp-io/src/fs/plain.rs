//! The functions that change the file system or list it: the standard library's, run in the
//! background.
//!
//! None of them is tried on the calling thread first. They wait for locks and the journal even if
//! all data is cached, and the kernel has no flag that forbids waiting.

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use gmp_exec::task::AtShutdown;

use super::{background, pending_writes};

/// Defines functions that take paths and run a function of the standard library in the background.
macro_rules! run_in_background {
    ($($(#[$doc:meta])* fn $name:ident($($path:ident),+) -> $output:ty = $function:path;)+) => {
        $(
            $(#[$doc])*
            ///
            /// # Panics
            ///
            /// If called outside of a runtime.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future does not undo anything: an operation that has begun goes on.
            pub async fn $name($($path: impl AsRef<Path>),+) -> io::Result<$output> {
                $(let $path = $path.as_ref().to_owned();)+
                background::run(AtShutdown::Wait, || $function($($path),+)).await
            }
        )+
    };
}

run_in_background! {
    /// Returns the absolute form of a path, with all symbolic links resolved.
    ///
    /// # Errors
    ///
    /// The path does not exist, or a component of it is not a directory.
    fn canonicalize(path) -> PathBuf = fs::canonicalize;

    /// Creates a directory.
    ///
    /// # Errors
    ///
    /// The path exists, the parent directory is missing, or the directory may not be created.
    fn create_dir(path) -> () = fs::create_dir;

    /// Creates a directory and all missing parent directories. Existing directories are left
    /// unchanged.
    ///
    /// # Errors
    ///
    /// One of the directories can't be created. The ones created before it stay.
    fn create_dir_all(path) -> () = fs::create_dir_all;

    /// Creates a hard link: `link` becomes a second name of the file `original`.
    ///
    /// # Errors
    ///
    /// `original` does not exist or is on another file system, or `link` exists.
    fn hard_link(original, link) -> () = fs::hard_link;

    /// Returns the path that a symbolic link contains.
    ///
    /// # Errors
    ///
    /// The path does not exist, or is not a symbolic link.
    fn read_link(path) -> PathBuf = fs::read_link;

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// The directory does not exist, is not empty, or may not be removed.
    fn remove_dir(path) -> () = fs::remove_dir;

    /// Removes a directory and its contents. Symbolic links are removed, but not the files that
    /// they lead to.
    ///
    /// # Errors
    ///
    /// The directory does not exist, or a part of it could not be removed. The rest may be removed
    /// then.
    fn remove_dir_all(path) -> () = fs::remove_dir_all;

    /// Removes a file. If the file has other names, or is open, it exists until the last name is
    /// removed and it is closed.
    ///
    /// # Errors
    ///
    /// The file does not exist, is a directory, or may not be removed.
    fn remove_file(path) -> () = fs::remove_file;

    /// Renames a file or directory. An existing file at `to` is replaced.
    ///
    /// # Errors
    ///
    /// `from` does not exist, or `to` is on another file system or can't be replaced.
    fn rename(from, to) -> () = fs::rename;

    /// Creates a symbolic link at `link` that contains `original`.
    ///
    /// # Errors
    ///
    /// `link` exists, its directory is missing, or the link may not be created.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let link = std::env::temp_dir().join(format!("gmp-fs-symlink-{}", std::process::id()));
    /// use gmp_io::fs;
    ///
    /// fs::symlink("/no/such/file", &link).await?;
    /// assert_eq!(fs::read_link(&link).await?.as_os_str(), "/no/such/file");
    /// assert!(fs::symlink_metadata(&link).await?.is_symlink());
    /// assert!(!fs::try_exists(&link).await?);
    /// # fs::remove_file(&link).await?;
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    fn symlink(original, link) -> () = std::os::unix::fs::symlink;
}

/// Copies the contents and the permissions of a file, and returns the number of bytes. The contents
/// of `to` are overwritten.
///
/// # Errors
///
/// `from` is not a file or may not be read, or `to` may not be written.
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Cancel safety
///
/// Dropping the future does not undo anything: an operation that has begun goes on.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let dir = std::env::temp_dir().join(format!("gmp-fs-copy-{}", std::process::id()));
/// use gmp_io::fs;
///
/// fs::create_dir_all(&dir).await?;
/// fs::write(dir.join("from"), b"some bytes").await?;
/// assert_eq!(fs::copy(dir.join("from"), dir.join("to")).await?, 10);
/// assert_eq!(fs::read(dir.join("to")).await?, b"some bytes");
/// fs::remove_dir_all(&dir).await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    pending_writes::written(&from).await;
    pending_writes::written(&to).await;
    background::run(AtShutdown::Wait, || fs::copy(from, to)).await
}

/// Changes the permissions of a file or directory.
///
/// # Errors
///
/// The file does not exist, or its permissions may not be changed.
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
/// use std::fs::Permissions;
/// use std::os::unix::fs::PermissionsExt;
///
/// use gmp_io::fs;
///
/// fs::write(&path, b"secret").await?;
/// fs::set_permissions(&path, Permissions::from_mode(0o600)).await?;
/// assert_eq!(fs::metadata(&path).await?.permissions().mode() & 0o777, 0o600);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub async fn set_permissions(path: impl AsRef<Path>, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    pending_writes::written(&path).await;
    background::run(AtShutdown::Wait, || fs::set_permissions(path, perm)).await
}

/// Writes `contents` to a file, which is created if it does not exist. Its previous contents are
/// overwritten.
///
/// # Errors
///
/// The file can't be created or may not be written, or the disk is full. The file may contain a
/// part of `contents` then.
///
/// # Panics
///
/// If called outside of a runtime.
///
/// # Cancel safety
///
/// Dropping the future does not undo anything: an operation that has begun goes on.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("file");
/// use gmp_io::fs;
///
/// fs::write(&path, b"some bytes").await?;
/// assert_eq!(fs::read(&path).await?, b"some bytes");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "WriteFile")]
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    let contents = contents.as_ref().to_vec();
    pending_writes::written(&path).await;
    background::run(AtShutdown::Wait, || fs::write(path, contents)).await
}
