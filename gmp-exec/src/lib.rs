//! The executor: tasks, processors, machines, timers, blocking sections.

mod procs;
mod sys;
