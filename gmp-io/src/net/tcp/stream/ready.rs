//! Waiting for readiness, and operations that don't wait.
//!
//! For code that wants to do the operation itself, or to read and write from one task without `select!`. The pattern is
//! always: wait until ready, try, and start over on `WouldBlock`, because readiness is a hint.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::task::{Context, Poll};

use bytes::BufMut;

use super::TcpStream;
use crate::io::{Interest, Ready, uninit};
use crate::reactor::Direction;

impl TcpStream {
    /// Waits until the connection is ready for part of `interest`, and says for which.
    ///
    /// Any number of tasks may wait at the same time.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (stream, (peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// # peer.try_write(b"ping")?;
    /// use std::io::ErrorKind::WouldBlock;
    ///
    /// use gmp_io::io::Interest;
    ///
    /// let mut received = [0; 16];
    /// loop {
    ///     let ready = stream.ready(Interest::READABLE | Interest::WRITABLE).await?;
    ///     if ready.is_readable() {
    ///         match stream.try_read(&mut received) {
    ///             Ok(n) => break println!("{:?}", &received[..n]),
    ///             Err(error) if error.kind() == WouldBlock => {}
    ///             Err(error) => return Err(error),
    ///         }
    ///     }
    ///     if ready.is_writable() {
    ///         // The same with `try_write`.
    ///     }
    /// #   gmp_exec::task::yield_now().await;
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        Ok(self.io.registration().readiness(interest).await?.ready)
    }

    /// Waits until there is something to read, or the peer has stopped writing.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (stream, (peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// # peer.try_write(b"ping")?;
    /// use std::io::ErrorKind::WouldBlock;
    ///
    /// let mut received = [0; 16];
    /// let n = loop {
    ///     stream.readable().await?;
    ///     match stream.try_read(&mut received) {
    ///         Err(error) if error.kind() == WouldBlock => continue,
    ///         result => break result?,
    ///     }
    /// };
    /// assert_eq!(&received[..n], b"ping");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(drop)
    }

    /// Waits until there is room to write, or writing fails at once.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = gmp_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// stream.writable().await?;
    /// assert_eq!(stream.try_write(b"hello")?, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(drop)
    }

    /// Whether there is something to read. If not, the task is woken when there is.
    ///
    /// Of several tasks that call this, or read through `AsyncRead`, only the last one is woken; for more, use
    /// [`readable`](TcpStream::readable).
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.registration().poll_ready(cx, Direction::Read).map_ok(drop)
    }

    /// Whether there is room to write. If not, the task is woken when there is.
    ///
    /// Of several tasks that call this, or write through `AsyncWrite`, only the last one is woken; for more, use
    /// [`writable`](TcpStream::writable).
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.registration().poll_ready(cx, Direction::Write).map_ok(drop)
    }

    /// Reads what is there, without waiting. Returns the number of bytes; 0 means that the peer has stopped writing, or
    /// that `buf` is empty.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing is there; else the system's.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_reading(|mut socket| socket.read(buf))
    }

    /// Reads what is there into several buffers, one after the other, without waiting. Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing is there; else the system's.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.try_reading(|mut socket| socket.read_vectored(bufs))
    }

    /// Reads what is there into the spare room of `buf`, without waiting. Returns the number of bytes, by which `buf` has
    /// been advanced.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing is there; else the system's.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (stream, (peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// # peer.try_write(b"ping")?;
    /// let mut received = Vec::with_capacity(1024);
    /// stream.readable().await?;
    /// stream.try_read_buf(&mut received)?;
    /// assert_eq!(received, b"ping");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.try_reading(|socket| uninit::recv_buf(socket, buf))
    }

    /// Writes what there is room for, without waiting. Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else the system's.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_writing(|mut socket| socket.write(buf))
    }

    /// Writes what there is room for out of several buffers, one after the other, without waiting. Returns the number of
    /// bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; else the system's.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.try_writing(|mut socket| socket.write_vectored(bufs))
    }

    /// Runs `f` once if the connection is thought to be ready for part of `interest`.
    ///
    /// `f` does an operation of its own on the socket. It must not block, and it must return `WouldBlock` when the socket was not
    /// ready and only then: that is what takes the readiness away.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if the connection is not ready; else what `f` returns.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (stream, (peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// # peer.try_write(b"ping")?;
    /// use gmp_io::io::Interest;
    ///
    /// stream.readable().await?;
    /// let mut received = [0; 16];
    /// let n = stream.try_io(Interest::READABLE, || {
    ///     let (_, n) = rustix::net::recv(&stream, &mut received, rustix::net::RecvFlags::empty())?;
    ///     Ok(n)
    /// })?;
    /// assert_eq!(&received[..n], b"ping");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_io<R>(&self, interest: Interest, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.io.registration().try_io(interest, f)
    }

    /// Runs `f` as often as it takes, waiting until the connection is ready for part of `interest` in between.
    ///
    /// `f` does an operation of its own on the socket. It must not block, and it must return `WouldBlock` when the socket was not
    /// ready and only then.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down; else what `f` returns, `WouldBlock` excepted.
    ///
    /// # Cancel safety
    ///
    /// `f` is run to its end or not at all, so nothing is lost.
    pub async fn async_io<R>(&self, interest: Interest, f: impl FnMut() -> io::Result<R>) -> io::Result<R> {
        self.io.registration().async_io(interest, f).await
    }

    fn try_reading<R>(&self, read: impl FnOnce(&std::net::TcpStream) -> io::Result<R>) -> io::Result<R> {
        self.try_io(Interest::READABLE, || read(self.io.io()))
    }

    fn try_writing<R>(&self, write: impl FnOnce(&std::net::TcpStream) -> io::Result<R>) -> io::Result<R> {
        self.try_io(Interest::WRITABLE, || write(self.io.io()))
    }
}
