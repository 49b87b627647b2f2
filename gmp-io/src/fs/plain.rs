//! The functions that change the file system or walk it: the standard library's, run where they may block.
//!
//! None of them is tried here first. They wait for locks and for the journal even if all they need is in memory, and the
//! kernel has no flag to say that they must not.

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use gmp_exec::task::AtShutdown;

use super::{background, pending_writes};

/// Defines functions of paths that run a function of the standard library in a closure.
macro_rules! run_in_a_closure {
    ($($(#[$doc:meta])* fn $name:ident($($path:ident),+) -> $output:ty = $function:path;)+) => {
        $(
            $(#[$doc])*
            ///
            /// # Panics
            ///
            /// Outside of a runtime.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future does not undo anything: what has begun goes on.
            pub async fn $name($($path: impl AsRef<Path>),+) -> io::Result<$output> {
                $(let $path = $path.as_ref().to_owned();)+
                background::run(AtShutdown::Wait, || $function($($path),+)).await
            }
        )+
    };
}

run_in_a_closure! {
    /// The absolute form of a path, with every symbolic link followed.
    ///
    /// # Errors
    ///
    /// The path leads to nothing, or through something that is no directory.
    fn canonicalize(path) -> PathBuf = fs::canonicalize;

    /// Makes a directory.
    ///
    /// # Errors
    ///
    /// There is something of that name, or no directory to make it in, or no right to.
    fn create_dir(path) -> () = fs::create_dir;

    /// Makes a directory, and those on the way to it that are missing. One that is there already is left as it is.
    ///
    /// # Errors
    ///
    /// One of the directories can't be made. Those made before it stay.
    fn create_dir_all(path) -> () = fs::create_dir_all;

    /// Gives the file `original` a second name, `link`.
    ///
    /// # Errors
    ///
    /// There is no `original`, or it is on another file system, or there is something named `link`.
    fn hard_link(original, link) -> () = fs::hard_link;

    /// What a symbolic link says.
    ///
    /// # Errors
    ///
    /// There is nothing of that name, or it is no symbolic link.
    fn read_link(path) -> PathBuf = fs::read_link;

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// There is none of that name, or it is not empty, or no right to.
    fn remove_dir(path) -> () = fs::remove_dir;

    /// Removes a directory with all that is in it. Symbolic links are removed, and what they lead to stays.
    ///
    /// # Errors
    ///
    /// There is none of that name, or part of it could not be removed. The rest may be gone then.
    fn remove_dir_all(path) -> () = fs::remove_dir_all;

    /// Removes a file's name. The file is gone with its last name, once nobody has it open.
    ///
    /// # Errors
    ///
    /// There is none of that name, or it is a directory, or no right to.
    fn remove_file(path) -> () = fs::remove_file;

    /// Gives a file or directory another name. What has that name already is replaced.
    ///
    /// # Errors
    ///
    /// There is no `from`, or `to` is on another file system or can't be replaced.
    fn rename(from, to) -> () = fs::rename;

    /// Makes a symbolic link at `link` that says `original`.
    ///
    /// # Errors
    ///
    /// There is something named `link`, or no directory to make it in, or no right to.
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

/// Copies the contents and the permissions of a file, and returns how many bytes that were. What
/// `to` held is overwritten.
///
/// # Errors
///
/// `from` is no file or may not be read; `to` may not be written.
///
/// # Panics
///
/// Outside of a runtime.
///
/// # Cancel safety
///
/// Dropping the future does not undo anything: what has begun goes on.
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
/// There is none of that name, or no right to.
///
/// # Panics
///
/// Outside of a runtime.
pub async fn set_permissions(path: impl AsRef<Path>, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    background::run(AtShutdown::Wait, || fs::set_permissions(path, perm)).await
}

/// Makes a file that holds `contents`. What it held before, if it was there, is overwritten.
///
/// # Errors
///
/// The file can't be made or may not be written, or there is no room left. It may hold a part of `contents` then.
///
/// # Panics
///
/// Outside of a runtime.
///
/// # Cancel safety
///
/// Dropping the future does not undo anything: what has begun goes on.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    let contents = contents.as_ref().to_vec();
    pending_writes::written(&path).await;
    background::run(AtShutdown::Wait, || fs::write(path, contents)).await
}
