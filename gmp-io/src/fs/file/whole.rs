//! Operations on the file as a whole.
//!
//! They take `&File`, so several tasks may ask for them at a time. Those that depend on what was read or written before wait
//! for their turn; then nothing is under way, and nothing begins.

use std::fs::{self, Metadata, Permissions};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use gmp_exec::task::{AtShutdown, yield_now};
use tokio::sync::MutexGuard;

use super::File;
use super::progress::{Finished, Progress};
use super::write::go_back;
use crate::fs::pending_writes::Cutoff;
use crate::fs::{FileTimes, background, inline};
use crate::sys::file;

impl File {
    /// Waits until all that was written is on the disk, and what the system knows about the file is, too.
    ///
    /// An error of a write is not reported here but by the next write or flush.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn sync_all(&self) -> io::Result<()> {
        let _turn = self.turn().await;
        self.run(fs::File::sync_all).await
    }

    /// As [`sync_all`](File::sync_all), without what is not needed to read the data back, such as the times.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn sync_data(&self) -> io::Result<()> {
        let _turn = self.turn().await;
        self.run(fs::File::sync_data).await
    }

    /// Makes the file `size` bytes long: the rest is cut off, what is missing becomes zeros. The cursor stays where it is.
    ///
    /// # Errors
    ///
    /// The file may not be written, or the system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped it may happen or not. The next operation waits for it.
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        let mut turn = self.turn().await;
        inline::assert_runtime();
        let ahead = turn.settled().discard();
        turn.start(AtShutdown::Wait, &self.std, move |std, _| {
            Finished::SetLen(go_back(std, ahead).and_then(|()| std.set_len(size)))
        });
        match poll_fn(|cx| turn.poll_finished(cx)).await? {
            Some(Finished::SetLen(outcome)) => outcome,
            other => unreachable!("the file is locked, and this came of a change of its length: {other:?}"),
        }
    }

    /// What the system knows about the file. What has been written and not flushed may be missing,
    /// except on Linux.
    ///
    /// # Errors
    ///
    /// The system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.written().await;
        inline::ask(&self.std, |std| file::metadata_of(std), AtShutdown::Wait, |std| std.metadata()).await
    }

    /// Another handle to the same open file. Both share one cursor, so reading with one moves the
    /// other, and waits for it.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn try_clone(&self) -> io::Result<File> {
        let mut turn = self.turn().await;
        let mut file = File::from_std(self.std.try_clone()?);
        turn.shares_cursor = true;
        file.max_buf_size = self.max_buf_size;
        Ok(file)
    }

    /// The file as the standard library's, after waiting for what is under way. What is in the read buffer is lost.
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
            // Somebody who asked for the metadata, say, and was cancelled may hold the file for a moment longer.
            shared = match Arc::try_unwrap(shared) {
                Ok(std) => return std,
                Err(shared) => shared,
            };
            // No descriptors left. Who holds the file has nobody to tell that it is done, so it is asked for.
            match shared.try_clone() {
                Ok(std) => return std,
                Err(_) => yield_now().await,
            }
        }
    }

    /// The file as the standard library's, if nothing is under way.
    ///
    /// # Errors
    ///
    /// Returns the file unchanged if something is.
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
    /// No right to, or the system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        self.run(move |std| std.set_permissions(perm)).await
    }

    /// Changes the times at which the file was last read and written, after waiting for what is under way, which would
    /// change them again.
    ///
    /// # Errors
    ///
    /// No right to, or the system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let _turn = self.turn().await;
        self.run(move |std| std.set_times(times.into_std())).await
    }

    /// Changes the time at which the file was last written: [`set_times`](File::set_times) for that one alone.
    ///
    /// # Errors
    ///
    /// No right to, or the system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Waits until nothing is under way, and keeps it so; and for what other handles have written.
    async fn turn(&self) -> MutexGuard<'_, Progress> {
        let mut progress = self.progress.lock().await;
        poll_fn(|cx| progress.poll_settle(cx)).await;
        self.written().await;
        progress
    }

    /// Waits until what was accepted is written, through whatever handle.
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
