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
//! - `accept_unix(&UnixListener)` and `unix_pair(Type)`, the same for Unix sockets.
//! - `file`, what can be done with files without blocking: `open(&Path) -> Cached<Opened>`,
//!   `metadata`, `symlink_metadata`, `exists`, `metadata_of(&File)`,
//!   `read(&File, &mut [u8]) -> io::Result<usize>`; `identity(&Path) -> Cached<Option<Identity>>` and
//!   `identity_of(&File) -> Option<Identity>` of a regular file; and `Stranger`, a file system to be
//!   introduced.
//! - `exit_descriptor(pid)`, a descriptor that becomes readable when the child process exits; `None` where there is no such
//!   thing, or none is left. Must be called before the child is waited for.
//! - `max_backlog()`, the longest queue of connections not yet accepted that the system grants.

#[cfg_attr(all(any(target_os = "linux", target_os = "android"), not(gmp_portable)), path = "linux/mod.rs")]
#[cfg_attr(not(all(any(target_os = "linux", target_os = "android"), not(gmp_portable))), path = "portable/mod.rs")]
mod chosen;

mod cached;

pub(crate) use cached::{Cached, Identity, Unknown};
pub(crate) use chosen::{
    Deadline, accept, accept_unix, datagram_socket, exit_descriptor, file, max_backlog, stream_socket, unix_pair,
};

/// No fallback: elsewhere the system is asked in other ways, and `UnixStream::peer_cred` is missing.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "linux/peer_cred.rs"]
mod peer_cred;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use peer_cred::peer_cred;
