//! Reading and writing that waits: tokio's traits.
//!
//! The methods that do the work take `&TcpStream`, because the halves of a split connection share one.

use std::io::{self, IoSlice, Write};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::net::RecvFlags;

use super::TcpStream;
use crate::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, uninit};
use crate::reactor::{Attempt, Direction};

impl TcpStream {
    /// Looks at what there is to read and leaves it there. Returns how many bytes were added to `buf`.
    ///
    /// Of several tasks that call this, or read, only the last one is woken.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        self.io
            .registration()
            .poll_io(cx, Direction::Read, || uninit::recv(self.io.io(), buf, RecvFlags::PEEK).map(Attempt::Done))
    }

    /// Waits until there is something to read, looks at it and leaves it there. Returns the number of bytes; 0 means that
    /// the peer has stopped writing.
    ///
    /// # Errors
    ///
    /// The system's.
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
        self.io.registration().async_io(Interest::READABLE, || self.io.io().peek(buf)).await
    }

    pub(in super::super) fn poll_read_shared(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.io.registration().poll_io(cx, Direction::Read, || {
            let room = buf.remaining();
            let n = uninit::recv(self.io.io(), buf, RecvFlags::empty())?;
            Ok(less_than_asked((), n, room))
        })
    }

    pub(in super::super) fn poll_write_shared(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.registration().poll_io(cx, Direction::Write, || {
            let n = self.io.io().write(buf)?;
            Ok(less_than_asked(n, n, buf.len()))
        })
    }

    /// A short vectored write says nothing about the socket: the standard library passes on at most `IOV_MAX` buffers.
    pub(in super::super) fn poll_write_vectored_shared(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.registration().poll_io(cx, Direction::Write, || self.io.io().write_vectored(bufs).map(Attempt::Done))
    }

    /// Closes a direction. A connection that the peer has reset is closed already.
    pub(in super::super) fn shutdown_shared(&self, how: Shutdown) -> io::Result<()> {
        match self.io.io().shutdown(how) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        }
    }
}

/// A stream that moved fewer bytes than asked has none left in its buffer, or no room. 0 of them is the end of the stream,
/// which stays.
fn less_than_asked<R>(result: R, moved: usize, asked: usize) -> Attempt<R> {
    if 0 < moved && moved < asked { Attempt::Drained(result) } else { Attempt::Done(result) }
}

impl AsyncRead for TcpStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_read_shared(cx, buf)
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_shared(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored_shared(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Done at once: what was written is with the system.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Closes the writing direction.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shutdown_shared(Shutdown::Write))
    }
}
