//! A TCP connection.

use std::io;
use std::net::{self, SocketAddr};

use bytes::BufMut;
use rustix::net::RecvFlags;

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, TcpSocket, WriteHalf};
use crate::io::{ReadBuf, Ready, uninit};
use crate::net::addr::first_that_works;
use crate::net::descriptor::{descriptor_traits, std_conversions};
use crate::net::readiness::readiness_methods;
use crate::net::transfer::{self, stream_methods};
use crate::net::{ToSocketAddrs, connect};
use crate::reactor::{Attempt, ByteSink, ByteSource, Evented, less_than_asked};

/// A TCP connection.
///
/// Read and write through tokio's [`AsyncRead`](crate::io::AsyncRead) and
/// [`AsyncWrite`](crate::io::AsyncWrite), or without waiting through
/// [`try_read`](TcpStream::try_read), [`try_write`](TcpStream::try_write) and similar methods. One
/// task can read while another one writes: see [`split`](TcpStream::split) and
/// [`into_split`](TcpStream::into_split).
///
/// Dropping the stream closes the connection; `shutdown` of `AsyncWrite` closes the writing
/// direction alone.
///
/// # Examples
///
/// ```
/// # use gmp_exec::runtime::Runtime;
/// # Runtime::new()?.block_on(async {
/// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
/// # let address = listener.local_addr()?;
/// # gmp_exec::spawn(async move {
/// #     let (mut stream, _) = listener.accept().await.unwrap();
/// #     let (mut reader, mut writer) = stream.split();
/// #     tokio::io::copy(&mut reader, &mut writer).await
/// # });
/// use gmp_io::net::TcpStream;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let mut stream = TcpStream::connect(address).await?;
/// stream.write_all(b"hello").await?;
/// stream.shutdown().await?;
///
/// let mut answer = Vec::new();
/// stream.read_to_end(&mut answer).await?;
/// assert_eq!(answer, b"hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
///
/// Without the traits: wait until the stream is ready, try, and start over on `WouldBlock`, because
/// readiness is a hint.
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
pub struct TcpStream {
    pub(super) io: Evented<net::TcpStream>,
}

impl TcpStream {
    /// Connects to an address. If `addr` stands for several, they are tried one after the other.
    ///
    /// To set options before connecting, use [`TcpSocket`].
    ///
    /// # Errors
    ///
    /// The name can't be resolved, or no address could be connected to: the error is the last
    /// address's.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// use gmp_io::net::TcpStream;
    ///
    /// let stream = TcpStream::connect(address).await?;
    /// assert_eq!(stream.peer_addr()?, address);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "Dial")]
    pub async fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        first_that_works(addr, |address| async move { TcpSocket::for_address(address)?.connect(address).await }).await
    }

    /// Waits until a connection in progress is made or has failed.
    pub(super) async fn connecting(stream: net::TcpStream) -> io::Result<TcpStream> {
        let stream = TcpStream::new(stream)?;
        connect::finish(&stream.io).await?;
        Ok(stream)
    }

    /// A connection from a listener. There is room to write, and often something to read already.
    pub(super) fn accepted(stream: net::TcpStream) -> io::Result<TcpStream> {
        let stream = TcpStream::new(stream)?;
        stream.io.registration().assume_ready(Ready::READABLE | Ready::WRITABLE);
        Ok(stream)
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// assert!(stream.local_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().local_addr()
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// The error of the system call: `NotConnected` after the connection has broken.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// assert_eq!(stream.peer_addr()?, address);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().peer_addr()
    }

    /// Takes the error that the system has stored for the connection (`SO_ERROR`), and clears it.
    ///
    /// # Errors
    ///
    /// The error of the system call that asks.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// assert!(stream.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.io().take_error()
    }

    /// Lends out a half for reading and a half for writing.
    ///
    /// The halves borrow the connection, so both stay in one task.
    /// [`into_split`](TcpStream::into_split) costs one allocation and lifts that restriction.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (mut stream, (mut peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut reader, mut writer) = stream.split();
    /// # tokio::io::AsyncWriteExt::write_all(&mut peer, b"pong").await?;
    /// let mut answer = [0; 4];
    /// tokio::try_join!(writer.write_all(b"ping"), reader.read_exact(&mut answer))?;
    /// assert_eq!(&answer, b"pong");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        super::split::split(self)
    }

    /// Splits the connection into a half for reading and a half for writing, which can move to
    /// different tasks.
    ///
    /// Dropping the writing half closes the writing direction. The connection is closed when both
    /// halves are dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let (stream, (mut peer, _)) =
    /// #     tokio::try_join!(gmp_io::net::TcpStream::connect(address), listener.accept())?;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut reader, mut writer) = stream.into_split();
    /// gmp_exec::spawn(async move { writer.write_all(b"bye").await });
    /// # let mut text = String::new();
    /// # peer.read_to_string(&mut text).await?;
    /// # assert_eq!(text, "bye");
    /// # drop(peer);
    /// assert_eq!(reader.read(&mut [0; 16]).await?, 0);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        super::split::split_owned(self)
    }
}

std_conversions! {
    TcpStream, net::TcpStream, "connection", Evented::new;

    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// # let address = listener.local_addr()?;
    /// use gmp_io::net::TcpStream;
    ///
    /// let stream = std::net::TcpStream::connect(address)?;
    /// stream.set_nonblocking(true)?;
    /// let stream = TcpStream::from_std(stream)?;
    /// # std::io::Result::Ok(())
    /// ```
    from_std;

    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// use gmp_io::net::TcpStream;
    ///
    /// let stream: std::net::TcpStream = TcpStream::connect(address).await?.into_std()?;
    /// stream.set_nonblocking(false)?;
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    into_std;
}

descriptor_traits! { TcpStream }
readiness_methods! { TcpStream, "connection", poll_read_ready, poll_write_ready }
stream_methods! { TcpStream, net::TcpStream }

impl ByteSource for net::TcpStream {
    fn fill(&self, buf: &mut ReadBuf<'_>) -> io::Result<Attempt<()>> {
        let room = buf.remaining();
        let n = uninit::recv(self, buf, RecvFlags::empty())?;
        Ok(less_than_asked((), n, room))
    }

    fn fill_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        uninit::recv_buf(self, buf)
    }
}

impl ByteSink for net::TcpStream {
    fn put(&self, buf: &[u8]) -> io::Result<Attempt<usize>> {
        transfer::put(self, buf)
    }

    fn close_writing(&self) -> io::Result<()> {
        transfer::close_writing(self)
    }
}
