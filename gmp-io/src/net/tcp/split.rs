use std::io;
use std::net::Shutdown;

use super::TcpStream;
use super::halves::{reading_half, writing_half};

/// The reading half of a borrowed connection, from [`TcpStream::split`].
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a TcpStream);

/// The writing half of a borrowed connection, from [`TcpStream::split`].
///
/// `shutdown` of [`AsyncWrite`](crate::io::AsyncWrite) closes the writing direction; dropping the half does not.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a TcpStream);

pub(super) fn split(stream: &mut TcpStream) -> (ReadHalf<'_>, WriteHalf<'_>) {
    (ReadHalf(stream), WriteHalf(stream))
}

impl ReadHalf<'_> {
    fn stream(&self) -> &TcpStream {
        self.0
    }
}

impl WriteHalf<'_> {
    fn stream(&self) -> &TcpStream {
        self.0
    }

    fn close(&mut self) -> io::Result<()> {
        self.0.shutdown_shared(Shutdown::Write)
    }
}

reading_half! { ReadHalf<'_> }
writing_half! { WriteHalf<'_> }
