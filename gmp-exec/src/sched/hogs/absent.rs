//! Polls that go on without a processor. sysmon looks at them (`sysmon::absent`), and counts those
//! that compute (`state::computing`).

use crate::sched::hogs::time_slice;
use crate::sched::local::Local;
use crate::sched::submit::wake::limit_hogs;

/// The machine has ended a poll without a processor. If the poll computed, a hog that waits may
/// find room.
pub(in crate::sched) fn end(local: &Local) {
    local.machine.absence.end(local.machine.ownership.turn());
    time_slice::end_long(local);
    if local.scheduler.hogs.is_any_waiting() {
        limit_hogs(&local.scheduler);
    }
}
