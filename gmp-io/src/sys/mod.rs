//! What differs from one system to the next, chosen here and nowhere else.
//!
//! `--cfg gmp_portable` takes the portable files on Linux too, so that the tests can run on them.
//!
//! Each system's files supply:
//!
//! - `Deadline`, which turns a timeout of nanoseconds into something mio can wait for: `new(&Registry)` and
//!   `arm(&mut self, Option<Duration>) -> io::Result<Option<Duration>>`, whose result is the timeout mio is to be given.
//! - `accept(&TcpListener)`, which takes one connection as a non-blocking socket that child processes don't inherit.
//! - `stream_socket(Domain)` and `datagram_socket(Domain)`, which make a non-blocking socket that child processes don't
//!   inherit.
//! - `max_backlog()`, the longest queue of connections not yet accepted that the system grants.

#[cfg_attr(all(any(target_os = "linux", target_os = "android"), not(gmp_portable)), path = "linux/mod.rs")]
#[cfg_attr(not(all(any(target_os = "linux", target_os = "android"), not(gmp_portable))), path = "portable/mod.rs")]
mod chosen;

pub(crate) use chosen::{Deadline, accept, datagram_socket, max_backlog, stream_socket};
