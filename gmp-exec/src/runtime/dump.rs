//! Dumps of tasks with their stacks, and traces of single futures (feature `taskdump`).
//!
//! See [`Handle::dump`](super::Handle::dump). Names, files and lines come from the program's debug
//! information. With `debug = "line-tables-only"` in the profile, an async function has its file and line,
//! but often no name.

pub use crate::dump::{Dump, DumpedTask as Task, DumpedTasks as Tasks};
pub use crate::task::traced::{Backtrace, BacktraceFrame, BacktraceSymbol, Root, Trace, TraceMeta, trace_with};
