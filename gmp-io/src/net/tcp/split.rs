//! The halves of a [`TcpStream`]: the types that `split` and `into_split` return.

use std::net::{self, SocketAddr};

use super::TcpStream;
use super::peek::peeking_half;
use crate::net::halves::{borrowed_halves, owned_halves};

borrowed_halves! { TcpStream, net::TcpStream, SocketAddr }
peeking_half! { ReadHalf<'_> }

owned_halves! {
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = gmp_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// let (reader, writer) = stream.into_split();
    /// let stream = reader.reunite(writer).expect("halves of one connection");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    TcpStream, net::TcpStream, SocketAddr
}
peeking_half! { OwnedReadHalf }
