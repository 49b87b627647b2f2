//! How a file is opened.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

use gmp_exec::task::AtShutdown;

use super::{File, inline, pending_writes};
use crate::sys::{NotCached, file};

/// How a file is opened: for what, and what happens if it is there or is not.
///
/// The same as the standard library's, for what it can't say see `From<std::fs::OpenOptions>`.
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
    /// Opening may do something to the file, as far as is known.
    has_effect: bool,
}

impl OpenOptions {
    /// Options of which none is set. At least one of reading, writing and appending is needed to open a file.
    #[must_use]
    pub fn new() -> OpenOptions {
        OpenOptions { std: fs::OpenOptions::new(), reads: false, has_effect: false }
    }

    /// Whether the file can be read.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.std.read(read);
        self.reads = read;
        self
    }

    /// Whether the file can be written. What it holds stays, and is overwritten from the start.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.set(write, |std| std.write(write))
    }

    /// Whether everything that is written goes to the end of the file, wherever the cursor is.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.set(append, |std| std.append(append))
    }

    /// Whether the file is emptied. Needs writing.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.set(truncate, |std| std.truncate(truncate))
    }

    /// Whether the file is made if it is not there. Needs writing or appending.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.set(create, |std| std.create(create))
    }

    /// Whether the file must be made, and opening it fails if there is anything of that name. Overrides `create` and
    /// `truncate`. Needs writing or appending.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.set(create_new, |std| std.create_new(create_new))
    }

    /// The permissions of the file if it is made, less what the process's umask takes away; `0o666` if never set.
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.std.mode(mode);
        self
    }

    /// Further flags for the system's `open`, except for those of the access mode.
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
    /// `InvalidInput` if the options contradict each other; otherwise the system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo anything: the file may be made or emptied all the same.
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

    /// Options that are switched off again count as set: it is not worth remembering which ones are.
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

/// The options can't be looked into, so a file is always opened where that may block.
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
