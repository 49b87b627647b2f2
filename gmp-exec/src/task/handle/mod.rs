//! What a program holds of a task: handles that await or abort it, and the error in place of an output.

pub(in crate::task) mod abort;
pub(in crate::task) mod error;
pub(in crate::task) mod join;
