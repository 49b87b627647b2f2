//! Reading without consuming, which of all streams only TCP's offer.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use rustix::net::RecvFlags;

use super::TcpStream;
use crate::io::{Interest, ReadBuf, uninit};
use crate::reactor::Direction;

impl TcpStream {
    /// Reads without consuming: the bytes stay for the next read. Returns how many bytes were added
    /// to `buf`.
    ///
    /// Of several tasks that call this or read, only the last one is woken.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Read, |stream| uninit::recv(stream, buf, RecvFlags::PEEK))
    }

    /// Waits until there is something to read, and reads without consuming. Returns the number of
    /// bytes; 0 means that the peer has stopped writing.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the bytes stay.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (mut stream, (peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// # peer.try_write(b"hello")?;
    /// use tokio::io::AsyncReadExt;
    ///
    /// let mut first = [0; 1];
    /// assert_eq!(stream.peek(&mut first).await?, 1);
    ///
    /// let mut all = [0; 5];
    /// stream.read_exact(&mut all).await?;
    /// assert_eq!(first[0], all[0]);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.async_io(Interest::READABLE, |stream| stream.peek(buf)).await
    }

    /// As `peek`, but waits in the slot for the reading direction, of which a half is the only
    /// user.
    pub(super) async fn peek_as_reader(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        poll_fn(|cx| self.poll_peek(cx, &mut buf)).await
    }
}

/// The same methods for a half that reads.
macro_rules! peeking_half {
    ($half:ty) => {
        impl $half {
            /// Reads without consuming: see [`TcpStream::poll_peek`].
            ///
            /// # Errors
            ///
            /// The error of the system call.
            pub fn poll_peek(
                &mut self,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.stream().poll_peek(cx, buf)
            }

            /// Waits until there is something to read, and reads without consuming. Returns the
            /// number of bytes; 0 means that the peer has stopped writing.
            ///
            /// # Errors
            ///
            /// The error of the system call.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: the bytes stay.
            pub async fn peek(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.stream().peek_as_reader(buf).await
            }
        }
    };
}

pub(super) use peeking_half;
