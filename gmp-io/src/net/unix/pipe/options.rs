use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::end::check_is_pipe;
use super::{Receiver, Sender};

/// How to open a FIFO.
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
    /// Both options off.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens the FIFO for reading and writing, although only one is used. A sender can then be opened before any receiver, and
    /// a receiver never comes to the end of the stream, as it is a sender itself.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Doesn't check that the file is a FIFO. It saves a system call; what then happens with a file that is none depends on
    /// the system.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the FIFO for reading. Doesn't wait for somebody who writes.
    ///
    /// Until the first sender is opened, reading comes to the end of the stream at once.
    ///
    /// # Errors
    ///
    /// It is not a FIFO (`InvalidInput`); else the system's.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        Receiver::from_file_unchecked(self.open(path.as_ref(), fs::OpenOptions::new().read(true))?)
    }

    /// Opens the FIFO for writing.
    ///
    /// # Errors
    ///
    /// It is not a FIFO (`InvalidInput`); nobody has opened it for reading (`ENXIO`), in which case a program may try again
    /// after a while; else the system's.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        Sender::from_file_unchecked(self.open(path.as_ref(), fs::OpenOptions::new().write(true))?)
    }

    /// Non-blocking from the beginning: opening would wait for the other end, too.
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
