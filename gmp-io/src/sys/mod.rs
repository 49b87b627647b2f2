//! The code that differs between systems, chosen here and nowhere else.
//!
//! `--cfg gmp_portable` chooses the portable files on Linux too, so that tests can run on them.
//!
//! The files of each system supply:
//!
//! - `Deadline`, which turns a timeout in nanoseconds into something mio can wait for:
//!   `new(&Registry)` and `arm(&mut self, Option<Duration>) -> io::Result<Option<Duration>>`, which
//!   returns the timeout to give to mio.
//! - `accept(&TcpListener)`, which accepts a connection as a non-blocking socket that child
//!   processes don't inherit.
//! - `stream_socket(Domain)` and `datagram_socket(Domain)`, which make a non-blocking socket that
//!   child processes don't inherit.
//! - `accept_unix(&UnixListener)` and `unix_pair(Type)`, the same for Unix sockets.
//! - `file`, questions about files that don't block: `open(&Path) -> Cached<Opened>`, `open_whole`,
//!   `metadata`, `symlink_metadata`, `exists`, `metadata_of(&File)`, `read(&File, &mut [u8]) ->
//!   io::Result<usize>`; `identity(&Path) -> Cached<Option<Identity>>` and `identity_of(&File) ->
//!   Option<Identity>` of a regular file; and `Unidentified`, a file system whose kind is not known
//!   yet.
//! - `exit_descriptor(pid)`, a descriptor that becomes readable when the child process exits.
//!   `None` where the system has no such descriptor, or none is left. Must be called before the
//!   child is waited for.
//! - `max_backlog()`, the longest queue of unaccepted connections that the system grants.

#[cfg_attr(all(any(target_os = "linux", target_os = "android"), not(gmp_portable)), path = "linux/mod.rs")]
#[cfg_attr(not(all(any(target_os = "linux", target_os = "android"), not(gmp_portable))), path = "portable/mod.rs")]
mod chosen;

mod cached;

pub(crate) use cached::{Cached, Identity, NotCached};
pub(crate) use chosen::{
    Deadline, accept, accept_unix, datagram_socket, exit_descriptor, file, max_backlog, stream_socket, unix_pair,
};

/// There is no fallback: on other systems `UnixStream::peer_cred` does not exist.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "linux/peer_cred.rs"]
mod peer_cred;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use peer_cred::peer_cred;
