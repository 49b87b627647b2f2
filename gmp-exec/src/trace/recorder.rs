//! Starting a recording, and taking snapshots of it.

use std::fmt;
use std::io;

use super::recording::Recording;
use super::ring::EVENT_SIZE;
use super::snapshot::Snapshot;
use crate::runtime::Handle;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;

/// Bytes per thread, unless the caller says otherwise: 262 144 events.
pub(super) const USUAL_SIZE: usize = 4 << 20;
pub(super) const LEAST_SIZE: usize = 4 << 10;
pub(super) const MOST_SIZE: usize = 1 << 30;

/// Records what a runtime does: which task ran on which processor and for how long, what woke it,
/// where processors went when a task blocked.
///
/// Each thread of the runtime writes into memory of its own, 16 bytes per event, and overwrites the
/// oldest events when the memory is full. So a recorder can run all the time, and
/// [`snapshot`](Self::snapshot) gives the last seconds before something went wrong. The file that
/// [`Snapshot::write_perfetto`] makes is opened in [Perfetto](https://ui.perfetto.dev), or read by
/// `cargo gmp trace FILE`.
///
/// While a runtime is recorded, a poll takes a few dozen nanoseconds longer. A runtime that is not
/// recorded pays nothing.
///
/// Recording ends when the recorder is dropped. A runtime has one recorder at a time.
///
/// `GMP_TRACE=FILE` records without a change to the program; see the
/// [module's documentation](super).
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::Runtime;
/// use gmp_exec::trace::Recorder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::new()?;
/// let recorder = Recorder::start(runtime.handle())?;
/// runtime.block_on(async { gmp_exec::spawn(async { 1 + 1 }).await })?;
/// let snapshot = recorder.snapshot();
/// let mut file = Vec::new(); // or a `std::fs::File`
/// snapshot.write_perfetto(&mut file)?;
/// # assert!(!file.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Recorder {
    scheduler: SchedulerRef,
    recording: Arc<Recording>,
}

/// A recording could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(Reason);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Size(usize),
    IsRecorded,
}

impl Recorder {
    /// Begins to record the runtime, with 4 MiB for each of its threads: 262 144 events.
    ///
    /// Memory is allocated as it is written, 16 KiB at a time.
    ///
    /// # Errors
    ///
    /// Fails if the runtime is recorded already.
    pub fn start(handle: &Handle) -> Result<Recorder, StartError> {
        Recorder::start_with_size(handle, USUAL_SIZE)
    }

    /// The same with another size, in bytes per thread. An event takes 16 bytes.
    ///
    /// # Errors
    ///
    /// Fails if the runtime is recorded already, and if the size is not from 4096 (4 KiB) to
    /// 1073741824 (1 GiB).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::trace::Recorder;
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let recorder = Recorder::start_with_size(runtime.handle(), 1 << 20).unwrap();
    /// let error = Recorder::start_with_size(runtime.handle(), 7).unwrap_err();
    /// assert_eq!(error.to_string(), "a size of 7 bytes per thread; allowed are 4096 to 1073741824");
    /// # drop(recorder);
    /// ```
    pub fn start_with_size(handle: &Handle, size: usize) -> Result<Recorder, StartError> {
        Recorder::of(handle.scheduler(), size)
    }

    pub(crate) fn of(scheduler: &SchedulerRef, size: usize) -> Result<Recorder, StartError> {
        if !(LEAST_SIZE..=MOST_SIZE).contains(&size) {
            return Err(StartError(Reason::Size(size)));
        }
        let recording = Recording::new(size, None);
        if !scheduler.observers.recorded.start(recording.clone()) {
            return Err(StartError(Reason::IsRecorded));
        }
        ask_for_looks(scheduler);
        Ok(Recorder { scheduler: scheduler.clone(), recording })
    }

    /// Copies what was recorded. Recording goes on, and no thread is stopped for it: what is
    /// overwritten during the copy is missing in the snapshot.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.recording, &self.scheduler)
    }

    /// Ends the recording, as dropping the recorder does, and returns what was recorded.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::trace::Recorder;
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let recorder = Recorder::start(runtime.handle()).unwrap();
    /// runtime.block_on(async { gmp_exec::spawn(async {}).await.unwrap() });
    /// assert!(recorder.stop().len() > 0);
    /// assert!(Recorder::start(runtime.handle()).is_ok());
    /// ```
    pub fn stop(self) -> Snapshot {
        self.snapshot()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.scheduler.observers.recorded.stop();
        ask_for_looks(&self.scheduler);
    }
}

/// Each machine notices the change on its next turn.
fn ask_for_looks(scheduler: &Arc<Scheduler>) {
    scheduler.processors.iter().for_each(|processor| processor.ask_for_look());
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reason::Size(size) => {
                write!(f, "a size of {size} bytes per thread; allowed are {LEAST_SIZE} to {MOST_SIZE}")
            }
            Reason::IsRecorded => f.write_str("the runtime is recorded already"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<StartError> for io::Error {
    fn from(error: StartError) -> io::Error {
        let kind = match error.0 {
            Reason::Size(_) => io::ErrorKind::InvalidInput,
            Reason::IsRecorded => io::ErrorKind::AlreadyExists,
        };
        io::Error::new(kind, error)
    }
}

const _: () = assert!(LEAST_SIZE / EVENT_SIZE >= 256);
