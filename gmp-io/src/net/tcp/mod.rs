//! TCP: the types behind [`TcpStream::split`] and [`TcpStream::into_split`].
//!
//! The sockets themselves are found in [`net`](crate::net).

mod halves;
mod listener;
mod socket;
mod split;
mod split_owned;
mod stream;

pub use listener::TcpListener;
pub use socket::TcpSocket;
pub use split::{ReadHalf, WriteHalf};
pub use split_owned::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use stream::TcpStream;

use std::io;
use std::os::fd::AsFd;

/// A blocking socket would block the thread in its first read. tokio treats it as a mistake that debug builds report, with
/// the first of these sentences.
#[track_caller]
fn check_nonblocking(socket: &impl AsFd) -> io::Result<()> {
    debug_assert!(
        socket2::SockRef::from(socket).nonblocking()?,
        "Registering a blocking socket with the tokio runtime is unsupported. \
         Call `set_nonblocking(true)` on it before.",
    );
    Ok(())
}
