//! The number of processors of a runtime, changed while it runs.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use crate::procs::MAX_PROCS;
use crate::runtime::Handle;
use crate::sched::resize::set_max_procs;

impl Handle {
    /// Returns how many tasks may run at a time: the number of processors in use or idle.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// assert_eq!(runtime.handle().max_procs(), 3);
    /// ```
    pub fn max_procs(&self) -> usize {
        self.scheduler().idle.active()
    }

    /// Sets how many tasks may run at a time, from 1 to 1024, and returns how many might before.
    /// Tasks go on running meanwhile; no thread is stopped.
    ///
    /// More processors are used at once if tasks wait. A processor too many is given up when its
    /// thread looks around, after 8 polls at most; a thread that is stuck in a poll loses it as
    /// soon as anything waits for it. Its tasks run on other processors. So for a moment more tasks
    /// may run than the new number says.
    ///
    /// Unless [`max_hogs`] was set, it becomes twice the new number. A runtime that has begun to
    /// shut down does not change any more.
    ///
    /// # Errors
    ///
    /// Fails if `count` is out of range, and on a current-thread runtime if it is not 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let handle = runtime.handle();
    /// assert_eq!(handle.set_max_procs(4).unwrap(), 2);
    /// assert_eq!(handle.max_procs(), 4);
    ///
    /// let error = handle.set_max_procs(0).unwrap_err();
    /// assert_eq!(error.to_string(), "the number of processors is 0, but must be from 1 to 1024");
    /// ```
    ///
    /// [`max_hogs`]: crate::runtime::Builder::max_hogs
    #[doc(alias = "GOMAXPROCS")]
    pub fn set_max_procs(&self, count: usize) -> Result<usize, MaxProcsError> {
        let range = if self.scheduler().config.is_current_thread() { 1..=1 } else { 1..=MAX_PROCS };
        if range.contains(&count) {
            Ok(set_max_procs(self.scheduler(), count))
        } else {
            Err(MaxProcsError { count, range })
        }
    }
}

/// A number of processors that a runtime can't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxProcsError {
    count: usize,
    range: RangeInclusive<usize>,
}

impl fmt::Display for MaxProcsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MaxProcsError { count, range } = self;
        if range.end() == range.start() {
            return write!(f, "the number of processors is {count}, but a current-thread runtime always has 1");
        }
        write!(f, "the number of processors is {count}, but must be from {} to {}", range.start(), range.end())
    }
}

impl Error for MaxProcsError {}
