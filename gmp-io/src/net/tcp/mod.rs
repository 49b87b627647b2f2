//! TCP: the types behind [`TcpStream::split`] and [`TcpStream::into_split`].
//!
//! The sockets themselves are in [`net`](crate::net).

mod listener;
mod options;
mod peek;
mod socket;
mod split;
mod stream;

pub use listener::TcpListener;
pub use socket::TcpSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::TcpStream;
