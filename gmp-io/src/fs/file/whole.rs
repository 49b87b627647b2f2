//! Operations on the file as a whole.
//!
//! They take `&File`, so several tasks may call them at the same time. Operations that depend on
//! earlier reads or writes wait for their turn; while they hold it, no other operation is in
//! progress.

use std::fs::{self, Metadata, Permissions};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use gmp_exec::task::{AtShutdown, yield_now};
use tokio::sync::MutexGuard;

use super::File;
use super::progress::{Finished, Progress, go_back};
use crate::fs::pending_writes::Cutoff;
use crate::fs::{FileTimes, background, inline};
use crate::sys::file;

impl File {
    /// Waits until all written data is on the disk, and the file's metadata too.
    ///
    /// An error of a write is not reported here but by the next write or flush.
    ///
    /// # Errors
    ///
    /// The error of the system call.
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
    /// use gmp_io::fs::File;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// file.sync_all().await?; // safe even if the power fails
    /// assert_eq!(file.metadata().await?.len(), 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn sync_all(&self) -> io::Result<()> {
        let _turn = self.turn().await;
        self.run(fs::File::sync_all).await
    }

    /// As [`sync_all`](File::sync_all), without the metadata that is not needed to read the data
    /// back, such as the times.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    pub async fn sync_data(&self) -> io::Result<()> {
        let _turn = self.turn().await;
        self.run(fs::File::sync_data).await
    }

    /// Changes the length of the file: a longer file is truncated, a shorter one is extended with
    /// zeros. The cursor stays.
    ///
    /// # Errors
    ///
    /// The file may not be written; else the error of the system call.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the change may happen or not. The next operation waits for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("file");
    /// use gmp_io::fs::File;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// file.set_len(2).await?;
    /// assert_eq!(file.metadata().await?.len(), 2);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        let mut turn = self.turn().await;
        inline::assert_runtime();
        let ahead = turn.settled().discard();
        turn.start(AtShutdown::Wait, &self.std, ahead, None, move |std, _| {
            Finished::SetLen(go_back(std, ahead).and_then(|()| std.set_len(size)))
        })?;
        match poll_fn(|cx| turn.poll_finished(cx)).await? {
            Some(Finished::SetLen(outcome)) => outcome,
            other => unreachable!("the file is locked while its length changes, but the result is {other:?}"),
        }
    }

    /// Returns the metadata of the file. Data that was written and not flushed may be missing,
    /// except on Linux.
    ///
    /// # Errors
    ///
    /// The error of the system call.
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
    /// use gmp_io::fs::File;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// file.flush().await?;
    /// assert_eq!(file.metadata().await?.len(), 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.written().await;
        inline::ask(&self.std, |std| file::metadata_of(std), AtShutdown::Wait, |std| std.metadata()).await
    }

    /// Returns another handle to the same open file. Both share one cursor, so reading through one
    /// moves the other, and each waits for the other.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
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
    /// use gmp_io::fs::File;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// file.flush().await?;
    /// let mut clone = file.try_clone().await?;
    /// clone.write_all(b", world").await?;
    /// clone.flush().await?;
    /// assert_eq!(gmp_io::fs::read(&path).await?, b"hello, world");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn try_clone(&self) -> io::Result<File> {
        let mut turn = self.turn().await;
        let mut file = File::from_std(self.std.try_clone()?);
        turn.shares_cursor = true;
        file.max_buf_size = self.max_buf_size;
        Ok(file)
    }

    /// Returns the standard library's file, after waiting for the operation in progress. The
    /// contents of the read buffer are lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let path = std::env::temp_dir().join(format!("gmp-fs-into-{}", std::process::id()));
    /// use gmp_io::fs::File;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// let std_file = file.into_std().await;
    /// assert_eq!(std_file.metadata()?.len(), 5);
    /// # gmp_io::fs::remove_file(&path).await?;
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn into_std(mut self) -> fs::File {
        let progress = self.progress.get_mut();
        poll_fn(|cx| progress.poll_settle(cx)).await;
        let mut shared = self.std;
        loop {
            // An operation that was cancelled, such as `metadata`, may hold the file for a moment
            // longer.
            shared = match Arc::try_unwrap(shared) {
                Ok(std) => return std,
                Err(shared) => shared,
            };
            // There are no descriptors left. The holder has no way to notify this task, so look
            // again.
            match shared.try_clone() {
                Ok(std) => return std,
                Err(_) => yield_now().await,
            }
        }
    }

    /// Returns the standard library's file, if no operation is in progress.
    ///
    /// # Errors
    ///
    /// Returns the file unchanged if an operation is in progress.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::fs::File;
    ///
    /// let file = File::open("/").await?;
    /// let std_file = file.try_into_std().expect("no operation is in progress");
    /// assert!(std_file.metadata()?.is_dir());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[allow(clippy::result_large_err, reason = "the file itself, as on tokio")]
    pub fn try_into_std(mut self) -> Result<fs::File, File> {
        match Arc::try_unwrap(self.std) {
            Ok(std) => Ok(std),
            Err(shared) => {
                self.std = shared;
                Err(self)
            }
        }
    }

    /// Changes the file's permissions.
    ///
    /// # Errors
    ///
    /// The change is not permitted; else the error of the system call.
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
    /// use gmp_io::fs::File;
    ///
    /// let file = File::create(&path).await?;
    /// file.set_permissions(Permissions::from_mode(0o600)).await?;
    /// assert_eq!(file.metadata().await?.permissions().mode() & 0o777, 0o600);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        self.run(move |std| std.set_permissions(perm)).await
    }

    /// Changes the times at which the file was last read and written. Waits for the operation in
    /// progress first, which would change them again.
    ///
    /// # Errors
    ///
    /// The change is not permitted; else the error of the system call.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime.
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let _turn = self.turn().await;
        self.run(move |std| std.set_times(times.into_std())).await
    }

    /// Changes the time at which the file was last written: [`set_times`](File::set_times) for this
    /// time alone.
    ///
    /// # Errors
    ///
    /// The change is not permitted; else the error of the system call.
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
    /// use std::time::{Duration, SystemTime};
    ///
    /// use gmp_io::fs::File;
    ///
    /// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    /// let file = File::create(&path).await?;
    /// file.set_modified(then).await?;
    /// assert_eq!(file.metadata().await?.modified()?, then);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Waits until no operation is in progress, and prevents new ones. Then waits for writes
    /// through other handles.
    async fn turn(&self) -> MutexGuard<'_, Progress> {
        let mut progress = self.progress.lock().await;
        poll_fn(|cx| progress.poll_settle(cx)).await;
        self.written().await;
        progress
    }

    /// Waits until all writes accepted so far, through any handle, are carried out.
    async fn written(&self) {
        let Some(now) = Cutoff::now() else { return };
        if let Some(file) = self.number.of(&self.std) {
            poll_fn(|cx| now.poll_written(file, cx)).await;
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let std = self.std.clone();
        background::run(AtShutdown::Wait, move || operation(&std)).await
    }
}
