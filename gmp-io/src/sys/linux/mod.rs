//! Linux and Android.

mod deadline;
pub(crate) mod file;
mod file_systems;
mod socket;

pub(crate) use deadline::Deadline;
pub(crate) use socket::{accept, max_backlog, stream_socket};
