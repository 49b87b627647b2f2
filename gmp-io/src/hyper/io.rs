//! Between tokio's I/O traits and hyper's.
//!
//! They differ in the type of the buffer to read into, and nothing else. Both types keep track of how far the buffer is
//! filled and give out the rest uninitialised through `unsafe` functions, so passing a buffer on without zeroing it takes
//! two of them each way. What makes it sound is the same in both directions: the inner reader is handed a buffer *of its own
//! trait's type* over the same memory, and it is that type, not the reader, that vouches for how much was initialised.
#![allow(unsafe_code, reason = "both buffer types hand out uninitialised memory through unsafe functions only")]

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{self, ReadBufCursor};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// A connection for hyper, made from one that implements tokio's traits; or the other way round.
    ///
    /// Around something that implements [`AsyncRead`] and [`AsyncWrite`] it implements hyper's `Read` and `Write`. Around
    /// something of hyper's, such as an upgraded connection, it implements tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// use gmp_io::hyper::GmpIo;
    /// use gmp_io::net::TcpStream;
    ///
    /// fn for_hyper(_: impl hyper::rt::Read + hyper::rt::Write) {}
    ///
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// for_hyper(GmpIo::new(stream));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[derive(Debug)]
    pub struct GmpIo<T> {
        #[pin]
        inner: T,
    }
}

impl<T> GmpIo<T> {
    /// Wraps a connection.
    pub fn new(inner: T) -> Self {
        GmpIo { inner }
    }

    /// The connection inside.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// The connection inside. Reading or writing it behind hyper's back garbles what hyper reads or writes.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Gives the connection back.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: AsyncRead> rt::Read for GmpIo<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the memory goes into a `ReadBuf` only, through which safe code can't take initialised bytes back.
        let mut inner_buf = ReadBuf::uninit(unsafe { buf.as_mut() });
        let memory = inner_buf.filled().as_ptr();
        ready!(self.project().inner.poll_read(cx, &mut inner_buf))?;
        assert_eq!(inner_buf.filled().as_ptr(), memory, "the reader has exchanged the buffer it was to read into");
        let filled = inner_buf.filled().len();
        // SAFETY: `ReadBuf`, which still is the one over the cursor's memory, says that its first `filled` bytes are
        // initialised.
        unsafe { buf.advance(filled) };
        Poll::Ready(Ok(()))
    }
}

impl<T: rt::Read> AsyncRead for GmpIo<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the memory goes into hyper's `ReadBuf` only, through which safe code can't take initialised bytes back.
        let mut inner_buf = rt::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
        ready!(self.project().inner.poll_read(cx, inner_buf.unfilled()))?;
        let filled = inner_buf.filled().len();
        // SAFETY: hyper's `ReadBuf`, which its cursor gives nobody the chance to exchange, says that the first `filled`
        // bytes of the unfilled part are initialised.
        unsafe { buf.assume_init(filled) };
        buf.advance(filled);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite> rt::Write for GmpIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }
}

impl<T: rt::Write> AsyncWrite for GmpIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }
}
