//! Options for opening a file.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

use gmp_exec::task::AtShutdown;

use super::{File, inline, pending_writes};
use crate::sys::{NotCached, file};

/// Options for opening a file: for which operations, and what to do if it exists or does not.
///
/// Corresponds to the standard library's type. For options that are missing here, convert that type
/// with `From<std::fs::OpenOptions>`.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let path = std::env::temp_dir().join(format!("gmp-fs-options-{}", std::process::id()));
/// use gmp_io::fs::{self, OpenOptions};
/// use tokio::io::AsyncWriteExt;
///
/// for line in ["one\n", "two\n"] {
///     let mut log = OpenOptions::new().append(true).create(true).open(&path).await?;
///     log.write_all(line.as_bytes()).await?;
///     log.flush().await?;
/// }
/// assert_eq!(fs::read_to_string(&path).await?, "one\ntwo\n");
/// # fs::remove_file(&path).await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    std: fs::OpenOptions,
    reads: bool,
    /// Whether opening may change the file, as far as is known.
    has_effect: bool,
}

impl OpenOptions {
    /// No option is set. To open a file, set at least one of `read`, `write` and `append`.
    #[must_use]
    pub fn new() -> OpenOptions {
        OpenOptions { std: fs::OpenOptions::new(), reads: false, has_effect: false }
    }

    /// Sets whether the file can be read.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::fs::OpenOptions;
    ///
    /// let file = OpenOptions::new().read(true).open("/").await?;
    /// assert!(file.metadata().await?.is_dir());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.std.read(read);
        self.reads = read;
        self
    }

    /// Sets whether the file can be written. Its contents stay, and are overwritten from the start.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::{self, OpenOptions};
    /// use tokio::io::AsyncWriteExt;
    ///
    /// fs::write(&path, b"jello").await?;
    /// let mut file = OpenOptions::new().write(true).open(&path).await?;
    /// file.write_all(b"h").await?;
    /// file.flush().await?;
    /// assert_eq!(fs::read(&path).await?, b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.set(write, |std| std.write(write))
    }

    /// Sets whether all writes go to the end of the file, wherever the cursor is.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::{self, OpenOptions};
    /// use tokio::io::AsyncWriteExt;
    ///
    /// fs::write(&path, b"one").await?;
    /// let mut file = OpenOptions::new().append(true).open(&path).await?;
    /// file.write_all(b"two").await?;
    /// file.flush().await?;
    /// assert_eq!(fs::read(&path).await?, b"onetwo");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.set(append, |std| std.append(append))
    }

    /// Sets whether the file is truncated to zero bytes. Needs `write`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::{self, OpenOptions};
    ///
    /// fs::write(&path, b"contents").await?;
    /// OpenOptions::new().write(true).truncate(true).open(&path).await?;
    /// assert!(fs::read(&path).await?.is_empty());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.set(truncate, |std| std.truncate(truncate))
    }

    /// Sets whether the file is created if it does not exist. Needs `write` or `append`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::OpenOptions;
    ///
    /// let mut options = OpenOptions::new();
    /// options.write(true).open(&path).await.expect_err("it does not exist");
    /// options.create(true).open(&path).await?;
    /// assert!(path.exists());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.set(create, |std| std.create(create))
    }

    /// Sets whether the file must be created, so that opening fails if the path exists. Overrides
    /// `create` and `truncate`. Needs `write` or `append`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::OpenOptions;
    ///
    /// let mut options = OpenOptions::new();
    /// options.write(true).create_new(true);
    /// options.open(&path).await?;
    /// options.open(&path).await.expect_err("it exists now");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.set(create_new, |std| std.create_new(create_new))
    }

    /// Sets the permissions of a new file, from which the process's umask is removed. The default
    /// is `0o666`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use std::os::unix::fs::PermissionsExt;
    ///
    /// use gmp_io::fs::OpenOptions;
    ///
    /// let file = OpenOptions::new().write(true).create(true).mode(0o600).open(&path).await?;
    /// assert_eq!(file.metadata().await?.permissions().mode() & 0o777, 0o600);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.std.mode(mode);
        self
    }

    /// Sets further flags for the system call `open`, except those of the access mode.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # const O_DIRECTORY: i32 = 0o200_000;
    /// use gmp_io::fs::OpenOptions;
    ///
    /// let directory = OpenOptions::new().read(true).custom_flags(O_DIRECTORY).open("/").await?;
    /// assert!(directory.metadata().await?.is_dir());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.set(flags != 0, |std| std.custom_flags(flags))
    }

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the options contradict each other; else the error of the system call.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo anything: the file may still be created or truncated.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        pending_writes::written(path.as_ref()).await;
        let std = self.std.clone();
        let has_no_effect = self.reads && !self.has_effect;
        let here = |path: &Path| {
            if !has_no_effect {
                return Err(NotCached(None));
            }
            file::open(path).map(|opened| opened.map(file::Opened::into_file))
        };
        let file = inline::ask(path.as_ref(), here, AtShutdown::Abandon, move |path| std.open(path)).await?;
        Ok(File::just_opened(file))
    }

    /// An option that is switched off again counts as set: that is simpler, and only costs a trip
    /// to the background.
    fn set(
        &mut self,
        has_effect: bool,
        set: impl FnOnce(&mut fs::OpenOptions) -> &mut fs::OpenOptions,
    ) -> &mut OpenOptions {
        set(&mut self.std);
        self.has_effect |= has_effect;
        self
    }
}

/// The options can't be read, so the file is always opened in the background.
impl From<fs::OpenOptions> for OpenOptions {
    fn from(std: fs::OpenOptions) -> OpenOptions {
        OpenOptions { std, reads: false, has_effect: true }
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}
