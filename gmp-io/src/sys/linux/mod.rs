//! Linux and Android.

mod deadline;
mod socket;

pub(crate) use deadline::Deadline;
pub(crate) use socket::{accept, max_backlog, stream_socket};
