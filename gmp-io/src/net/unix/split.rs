//! The halves of a [`UnixStream`]: the types that `split` and `into_split` return.

use std::os::unix::net;

use super::{SocketAddr, UnixStream};
use crate::net::halves::{borrowed_halves, owned_halves};

borrowed_halves! { UnixStream, net::UnixStream, SocketAddr }

owned_halves! {
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _peer) = UnixStream::pair()?;
    /// let (reader, writer) = stream.into_split();
    /// let stream = reader.reunite(writer).expect("halves of one connection");
    /// # std::io::Result::Ok(())
    /// ```
    UnixStream, net::UnixStream, SocketAddr
}
