//! Options for making directories.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::{fs, io};

use gmp_exec::task::AtShutdown;

use super::background;

/// Options for making a directory.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let dir = std::env::temp_dir().join(format!("gmp-fs-dir-builder-{}", std::process::id()));
/// use std::os::unix::fs::PermissionsExt;
///
/// use gmp_io::fs::{self, DirBuilder};
///
/// DirBuilder::new().recursive(true).mode(0o700).create(dir.join("some/where")).await?;
/// let metadata = fs::metadata(dir.join("some/where")).await?;
/// assert_eq!(metadata.permissions().mode() & 0o777, 0o700);
/// # fs::remove_dir_all(&dir).await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    mode: Option<u32>,
}

impl DirBuilder {
    /// Options for a single directory with the default permissions.
    pub fn new() -> Self {
        DirBuilder::default()
    }

    /// Sets whether missing parent directories are made too, and an existing directory is no error.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::DirBuilder;
    ///
    /// let path = path.join("child");
    /// DirBuilder::new().create(&path).await.expect_err("the parent is missing");
    /// DirBuilder::new().recursive(true).create(&path).await?;
    /// assert!(path.is_dir());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// Sets the permissions of new directories, from which the process's umask is removed. The
    /// default is `0o777`.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    ///
    /// The path exists, the directory may not be made, or, unless `recursive`, the parent directory
    /// is missing.
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
    /// use gmp_io::fs::DirBuilder;
    ///
    /// DirBuilder::new().create(&path).await?;
    /// assert!(path.is_dir());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref().to_owned();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(self.recursive);
        if let Some(mode) = self.mode {
            builder.mode(mode);
        }
        background::run(AtShutdown::Wait, move || builder.create(path)).await
    }
}
