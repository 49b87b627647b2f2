//! Recording a runtime for a process that asks for it.

use std::io::{self, Write};

use super::recorder::{Recorder, USUAL_SIZE};
use super::snapshot::Snapshot;
use super::tap::Recorded;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;

/// Writes what was recorded, as a trace of Perfetto.
type WriteRecorded = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()>>;

/// Records the runtime until the function that is returned is called or dropped. A recording that is
/// under way goes on, and the function writes all that it has kept. `None` only without the feature
/// `insight`.
pub(crate) fn record_until_written(scheduler: &Arc<Scheduler>) -> Option<WriteRecorded> {
    let scheduler = SchedulerRef::new(scheduler.clone());
    loop {
        if let Ok(recorder) = Recorder::of(&scheduler, USUAL_SIZE) {
            return Some(Box::new(move |out| recorder.stop().write_perfetto(out)));
        }
        // Otherwise it has ended since.
        if let Some(recording) = scheduler.observers.recorded.current() {
            return Some(Box::new(move |out| {
                let snapshot = Snapshot::of(&recording, &scheduler);
                scheduler.observers.recorded.must_be(&recording)?;
                snapshot.write_perfetto(out)
            }));
        }
    }
}

impl Recorded {
    /// # Errors
    ///
    /// This recording is no longer under way. What came after it is in none of its rings, and would look
    /// as if nothing had run.
    fn must_be(&self, recording: &Arc<super::Recording>) -> io::Result<()> {
        match self.current() {
            Some(current) if Arc::ptr_eq(&current, recording) => Ok(()),
            _ => Err(io::Error::other("the program has ended its recording")),
        }
    }
}
