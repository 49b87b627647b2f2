//! What the scheduler tells those that watch it: the recorder, histograms, hooks, and the report of
//! polls that hold their threads. Nothing here decides.

pub(crate) mod local_poll;
pub(crate) mod local_record;
pub(in crate::sched) mod measure;
pub(crate) mod record;
pub(in crate::sched) mod report_blocked;
pub(crate) mod root_record;
pub(in crate::sched) mod stamp;
