//! Where a thread is that a signal has interrupted, and that does not go on: the last words of a seeded run.

use std::ffi::c_void;

use super::sites::Site;
use crate::blocked::{interrupted_at, named};
use crate::context::running_task;
use crate::escaped::short;

/// The line and the task, for a handler with this context:
/// `, at src/a.rs:7, in task 3, spawned at src/a.rs:5`.
pub(crate) fn interrupted(context: *const c_void) -> String {
    let site = Site::of(&named(&interrupted_at(context)), false);
    let line = site.map_or_else(String::new, |site| format!(", {}", site.place));
    let task = running_task().map_or_else(String::new, |(id, location)| {
        format!(", in task {id}, spawned at {}:{}", short(location.file()), location.line())
    });
    line + &task
}
