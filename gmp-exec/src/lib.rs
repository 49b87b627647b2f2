//! The executor: tasks, processors, machines, timers, blocking sections.

mod procs;
mod sys;

pub use gmp_macros::main;
pub use gmp_macros::test;
