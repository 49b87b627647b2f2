//! Marks of the program's own.

use super::{Event, on_this_thread};
use crate::context;

/// Puts a mark with this name into the recording of the current runtime, if there is one. It is
/// shown at this moment, beside the task that has made it.
///
/// Without a recording a mark costs a few nanoseconds.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// gmp_exec::spawn(async {
///     gmp_exec::trace::mark("request parsed");
/// })
/// .await
/// .unwrap();
/// # });
/// ```
pub fn mark(name: &'static str) {
    let task = context::current_task_id();
    let _ = context::with_scheduler(|scheduler| {
        if scheduler.observers.recorded.is_under_way() {
            on_this_thread(scheduler, Event::Mark(task, name));
        }
    });
}
