//! The times of a file.

use std::fs;
use std::time::SystemTime;

/// The times to set with [`File::set_times`](super::File::set_times). Times that are not given are
/// left unchanged.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let path = std::env::temp_dir().join(format!("gmp-fs-times-{}", std::process::id()));
/// use std::time::{Duration, SystemTime};
///
/// use gmp_io::fs::{File, FileTimes};
///
/// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
/// let file = File::create(&path).await?;
/// file.set_times(FileTimes::new().set_accessed(then).set_modified(then)).await?;
/// assert_eq!(file.metadata().await?.modified()?, then);
/// # gmp_io::fs::remove_file(&path).await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has an effect only when it is given to `File::set_times`"]
pub struct FileTimes {
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
}

impl FileTimes {
    /// Leaves all times unchanged.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets when the file was last read.
    pub fn set_accessed(mut self, t: SystemTime) -> Self {
        self.accessed = Some(t);
        self
    }

    /// Sets when the file was last written.
    pub fn set_modified(mut self, t: SystemTime) -> Self {
        self.modified = Some(t);
        self
    }

    pub(super) fn into_std(self) -> fs::FileTimes {
        let times = fs::FileTimes::new();
        let times = self.accessed.map_or(times, |time| times.set_accessed(time));
        self.modified.map_or(times, |time| times.set_modified(time))
    }
}
