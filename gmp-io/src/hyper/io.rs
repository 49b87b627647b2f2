//! Adapts connections between tokio's I/O traits and hyper's.
//!
//! The traits only differ in the type of the buffer to read into. Both types record how far the
//! buffer is filled and lend out the rest uninitialised through `unsafe` functions, so each
//! direction needs two `unsafe` calls to pass a buffer on without zeroing it. They are sound for
//! the same reason: the inner reader gets a buffer *of its own trait's type* over the same memory,
//! and that type, not the reader, guarantees how much was initialised.
#![allow(unsafe_code, reason = "both buffer types hand out uninitialised memory through unsafe functions only")]

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{self, ReadBufCursor};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// Adapts a connection that implements tokio's traits for hyper, or the other way round.
    ///
    /// Around a type that implements [`AsyncRead`] and [`AsyncWrite`] it implements hyper's `Read`
    /// and `Write`. Around a type of hyper's, such as an upgraded connection, it implements tokio's
    /// traits.
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
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::hyper::GmpIo;
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _peer) = UnixStream::pair()?;
    /// let io = GmpIo::new(stream);
    /// assert!(io.inner().peer_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// The connection inside. Reading or writing it directly corrupts the stream that hyper reads
    /// or writes.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the connection.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::hyper::GmpIo;
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _peer) = UnixStream::pair()?;
    /// let stream: UnixStream = GmpIo::new(stream).into_inner();
    /// assert!(stream.peer_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: AsyncRead> rt::Read for GmpIo<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the memory is only passed to a `ReadBuf`, and safe code can't de-initialise bytes
        // through it.
        let mut inner_buf = ReadBuf::uninit(unsafe { buf.as_mut() });
        let memory = inner_buf.filled().as_ptr();
        ready!(self.project().inner.poll_read(cx, &mut inner_buf))?;
        assert_eq!(inner_buf.filled().as_ptr(), memory, "the reader has replaced the buffer it was to read into");
        let filled = inner_buf.filled().len();
        // SAFETY: `ReadBuf`, which is still the one over the cursor's memory, guarantees that its
        // first `filled` bytes are initialised.
        unsafe { buf.advance(filled) };
        Poll::Ready(Ok(()))
    }
}

impl<T: rt::Read> AsyncRead for GmpIo<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // SAFETY: the memory is only passed to hyper's `ReadBuf`, and safe code can't de-initialise
        // bytes through it.
        let mut inner_buf = rt::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
        ready!(self.project().inner.poll_read(cx, inner_buf.unfilled()))?;
        let filled = inner_buf.filled().len();
        // SAFETY: hyper's `ReadBuf`, which can't be replaced through its cursor, guarantees that
        // the first `filled` bytes of the unfilled part are initialised.
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
