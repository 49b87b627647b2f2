use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::{fs, io};

use gmp_exec::task::AtShutdown;

use super::background;

/// How a directory is made.
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
    /// A single directory, with the usual permissions.
    pub fn new() -> Self {
        DirBuilder::default()
    }

    /// Whether directories on the way that are missing are made, too, and a directory that is there is no error.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// The permissions of what is made, less what the process's umask takes away; `0o777` if never set.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    ///
    /// There is something of that name, or no right to make it, or, unless `recursive`, no directory to make it in.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
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
