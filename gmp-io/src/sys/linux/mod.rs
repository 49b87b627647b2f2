//! Linux and Android.

mod deadline;
pub(crate) mod file;
mod file_systems;
mod known_paths;
mod process;
mod socket;
mod unix;

pub(crate) use deadline::Deadline;
pub(crate) use process::exit_descriptor;
pub(crate) use socket::{accept, datagram_socket, max_backlog, stream_socket};
pub(crate) use unix::{accept_unix, unix_pair};
