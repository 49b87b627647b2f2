//! Any other Unix.

mod deadline;
mod process;
mod socket;

pub(crate) use deadline::Deadline;
pub(crate) use process::exit_descriptor;
pub(crate) use socket::{accept, max_backlog, stream_socket};
