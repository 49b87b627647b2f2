//! Opening FIFOs.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::end::check_is_pipe;
use super::{Receiver, Sender};

/// Options for opening a FIFO.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("fifo");
/// use gmp_io::net::unix::pipe;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
/// let mut receiver = pipe::OpenOptions::new().open_receiver(&path)?;
/// let mut sender = pipe::OpenOptions::new().open_sender(&path)?;
/// sender.write_u8(7).await?;
/// assert_eq!(receiver.read_u8().await?, 7);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// Both options are off.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Sets whether the FIFO is opened for reading and writing, although only one is used. A sender
    /// can then be opened before any receiver. A receiver never finds the end of the stream,
    /// because it is a sender itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("fifo");
    /// # assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// use gmp_io::net::unix::pipe;
    ///
    /// let mut options = pipe::OpenOptions::new();
    /// options.open_sender(&path).expect_err("no receiver yet");
    /// let _sender = options.read_write(true).open_sender(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Sets whether to skip the check that the file is a FIFO, which saves a system call. The
    /// behaviour of any other kind of file then depends on the system.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the FIFO for reading. Does not wait for a writer.
    ///
    /// On Linux, reads wait until the FIFO is opened for writing for the first time.
    ///
    /// # Errors
    ///
    /// The file is not a FIFO (`InvalidInput`); else the error of the system call.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("fifo");
    /// # assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// use gmp_io::net::unix::pipe;
    /// use tokio::io::AsyncReadExt;
    ///
    /// let mut receiver = pipe::OpenOptions::new().open_receiver(&path)?;
    /// drop(std::fs::OpenOptions::new().write(true).open(&path)?);
    /// assert_eq!(receiver.read(&mut [0; 16]).await?, 0, "the end of the stream");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        Receiver::from_file_unchecked(self.open(path.as_ref(), fs::OpenOptions::new().read(true))?)
    }

    /// Opens the FIFO for writing.
    ///
    /// # Errors
    ///
    /// The file is not a FIFO (`InvalidInput`); no process has it open for reading (`ENXIO`), in
    /// which case a program can try again later; else the error of the system call.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("fifo");
    /// # assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// use gmp_io::net::unix::pipe;
    ///
    /// let options = pipe::OpenOptions::new();
    /// options.open_sender(&path).expect_err("no receiver yet");
    /// let _receiver = options.open_receiver(&path)?;
    /// let _sender = options.open_sender(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        Sender::from_file_unchecked(self.open(path.as_ref(), fs::OpenOptions::new().write(true))?)
    }

    /// Opens with `O_NONBLOCK`, because opening a FIFO would wait for the other end too.
    fn open(&self, path: &Path, options: &mut fs::OpenOptions) -> io::Result<File> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.read_write {
            options.read(true).write(true);
        }
        let file = options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
        if !self.unchecked {
            check_is_pipe(&file)?;
        }
        Ok(file)
    }
}
