//! Any other Unix.

mod deadline;
mod socket;

pub(crate) use deadline::Deadline;
pub(crate) use socket::{accept, datagram_socket, max_backlog, stream_socket};
