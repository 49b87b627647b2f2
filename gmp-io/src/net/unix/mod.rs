//! Unix sockets: their addresses, the types behind [`UnixStream::split`] and
//! [`UnixStream::into_split`], and [pipes](pipe).
//!
//! The sockets themselves are in [`net`](crate::net).

mod address;
mod credentials;
mod datagram;
mod listener;
pub mod pipe;
mod socket;
mod split;
mod stream;

pub use address::SocketAddr;
pub use credentials::UCred;
pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use socket::UnixSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::UnixStream;

/// The number of a user.
#[allow(non_camel_case_types, reason = "the system's name, and tokio's")]
pub type uid_t = u32;

/// The number of a group.
#[allow(non_camel_case_types, reason = "the system's name, and tokio's")]
pub type gid_t = u32;

/// The number of a process.
#[allow(non_camel_case_types, reason = "the system's name, and tokio's")]
pub type pid_t = i32;
