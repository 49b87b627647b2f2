use std::error::Error;
use std::fmt;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use super::TcpStream;
use super::halves::{reading_half, writing_half};

/// The reading half of a connection, from [`TcpStream::into_split`].
#[derive(Debug)]
pub struct OwnedReadHalf {
    stream: Arc<TcpStream>,
}

/// The writing half of a connection, from [`TcpStream::into_split`].
///
/// Dropping it closes the writing direction, so that the peer sees the end of the stream;
/// [`forget`](OwnedWriteHalf::forget) drops it without.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    close_on_drop: bool,
}

/// The halves that [`reunite`](OwnedReadHalf::reunite) was given are not from the same connection. It has them both.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

pub(super) fn split_owned(stream: TcpStream) -> (OwnedReadHalf, OwnedWriteHalf) {
    let stream = Arc::new(stream);
    (OwnedReadHalf { stream: stream.clone() }, OwnedWriteHalf { stream, close_on_drop: true })
}

fn reunite(read: OwnedReadHalf, write: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
    if !Arc::ptr_eq(&read.stream, &write.stream) {
        return Err(ReuniteError(read, write));
    }
    write.forget();
    Ok(Arc::into_inner(read.stream).expect("two halves share a connection, and one of them is gone"))
}

impl OwnedReadHalf {
    /// Puts two halves together again.
    ///
    /// # Errors
    ///
    /// They are not from the same connection.
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
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        reunite(self, other)
    }

    fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

impl OwnedWriteHalf {
    /// Puts two halves together again.
    ///
    /// # Errors
    ///
    /// They are not from the same connection.
    pub fn reunite(self, other: OwnedReadHalf) -> Result<TcpStream, ReuniteError> {
        reunite(other, self)
    }

    /// Drops the half and leaves the writing direction open, although nobody is left to write. The connection is closed
    /// when the reading half is gone too.
    pub fn forget(mut self) {
        self.close_on_drop = false;
    }

    fn stream(&self) -> &TcpStream {
        &self.stream
    }

    fn close(&mut self) -> io::Result<()> {
        self.stream.shutdown_shared(Shutdown::Write)?;
        self.close_on_drop = false;
        Ok(())
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.close_on_drop {
            // Nobody is left to be told.
            let _ = self.close();
        }
    }
}

reading_half! { OwnedReadHalf }
writing_half! { OwnedWriteHalf }

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tried to reunite halves that are not from the same socket")
    }
}

impl Error for ReuniteError {}
