//! A connection through a Unix socket.

use std::io;
use std::os::unix::net;
use std::path::Path;

use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::{Domain, SockAddr, Socket, Type};

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, SocketAddr, WriteHalf};
use crate::io::{ReadBuf, Ready, uninit};
use crate::net::connect;
use crate::net::descriptor::{descriptor_traits, std_conversions};
use crate::net::readiness::readiness_methods;
use crate::net::transfer::{self, stream_methods};
use crate::reactor::{Attempt, ByteSink, ByteSource, Evented, less_than_asked};
use crate::sys;

/// A connection between two processes on the same machine, or within one process.
///
/// Read and write through tokio's [`AsyncRead`](crate::io::AsyncRead) and
/// [`AsyncWrite`](crate::io::AsyncWrite), or without waiting through
/// [`try_read`](UnixStream::try_read), [`try_write`](UnixStream::try_write) and similar methods.
/// One task can read while another one writes: see [`split`](UnixStream::split) and
/// [`into_split`](UnixStream::into_split).
///
/// Dropping the stream closes the connection; `shutdown` of `AsyncWrite` closes the writing
/// direction alone.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::UnixStream;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let (mut left, mut right) = UnixStream::pair()?;
/// left.write_all(b"hello").await?;
/// left.shutdown().await?;
///
/// let mut received = String::new();
/// right.read_to_string(&mut received).await?;
/// assert_eq!(received, "hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias = "uds")]
pub struct UnixStream {
    io: Evented<net::UnixStream>,
}

impl UnixStream {
    /// Connects to the socket at a path. On Linux a path that begins with a NUL byte is an abstract
    /// name.
    ///
    /// # Errors
    ///
    /// The path is too long or contains a NUL byte (`InvalidInput`); else the error of the system
    /// call: the path does not exist (`NotFound`), no process listens (`ConnectionRefused`), or, on
    /// Linux, the listener's queue is full (`WouldBlock`).
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
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::{UnixListener, UnixStream};
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// let stream = UnixStream::connect(&path).await?;
    /// assert_eq!(stream.peer_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        UnixStream::connect_addr(&SocketAddr::from_path(path.as_ref())?).await
    }

    /// Connects to the socket at an address.
    ///
    /// # Errors
    ///
    /// As for [`connect`](UnixStream::connect).
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
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::{UnixListener, UnixStream};
    ///
    /// let listener = UnixListener::bind(&path)?;
    /// let address = listener.local_addr()?;
    /// let stream = UnixStream::connect_addr(&address).await?;
    /// assert!(stream.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn connect_addr(socket_addr: &SocketAddr) -> io::Result<UnixStream> {
        let address = socket_addr.to_socket2()?;
        UnixStream::connect_socket(sys::stream_socket(Domain::UNIX)?, &address).await
    }

    pub(super) async fn connect_socket(socket: Socket, address: &SockAddr) -> io::Result<UnixStream> {
        connect::start(&socket, address)?;
        let stream = UnixStream::new(socket.into())?;
        connect::finish(&stream.io).await?;
        Ok(stream)
    }

    /// A connection from a listener. There is room to write, and often something to read already.
    pub(super) fn accepted(stream: net::UnixStream) -> io::Result<UnixStream> {
        UnixStream::assumed_ready(stream, Ready::READABLE | Ready::WRITABLE)
    }

    #[track_caller]
    fn assumed_ready(stream: net::UnixStream, ready: Ready) -> io::Result<UnixStream> {
        let stream = UnixStream::new(stream)?;
        stream.io.registration().assume_ready(ready);
        Ok(stream)
    }

    /// Makes two unnamed sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, peer) = UnixStream::pair()?;
    /// assert!(stream.local_addr()?.is_unnamed() && peer.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "socketpair")]
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (left, right) = sys::unix_pair(Type::STREAM)?;
        let left = UnixStream::assumed_ready(left.into(), Ready::WRITABLE)?;
        Ok((left, UnixStream::assumed_ready(right.into(), Ready::WRITABLE)?))
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
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, peer) = UnixStream::pair()?;
    /// assert!(stream.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().local_addr().map(SocketAddr::from)
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, peer) = UnixStream::pair()?;
    /// assert!(stream.peer_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().peer_addr().map(SocketAddr::from)
    }

    /// The process that was at the other end when the connection was made.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _myself) = UnixStream::pair()?;
    /// assert_eq!(stream.peer_cred()?.pid(), Some(std::process::id() as i32));
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn peer_cred(&self) -> io::Result<super::UCred> {
        sys::peer_cred(self.io.io())
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
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, peer) = UnixStream::pair()?;
    /// assert!(stream.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.io().take_error()
    }

    /// Lends out a half for reading and a half for writing.
    ///
    /// The halves borrow the connection, so both stay in one task.
    /// [`into_split`](UnixStream::into_split) costs one allocation and lifts that restriction.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UnixStream;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut left, mut right) = UnixStream::pair()?;
    /// let (mut reader, mut writer) = left.split();
    /// right.write_all(b"pong").await?;
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
    /// use gmp_io::net::UnixStream;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let (stream, mut peer) = UnixStream::pair()?;
    /// let (mut reader, mut writer) = stream.into_split();
    /// gmp_exec::spawn(async move { writer.write_all(b"bye").await });
    ///
    /// let mut text = String::new();
    /// peer.read_to_string(&mut text).await?;
    /// assert_eq!(text, "bye");
    /// drop(peer);
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
    UnixStream, net::UnixStream, "connection", Evented::new;
    from_std;

    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _peer) = UnixStream::pair()?;
    /// let stream: std::os::unix::net::UnixStream = stream.into_std()?;
    /// stream.set_nonblocking(false)?;
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    into_std;
}

descriptor_traits! { UnixStream }
readiness_methods! { UnixStream, "connection", poll_read_ready, poll_write_ready }
stream_methods! { UnixStream, net::UnixStream }

/// Room for a length or a header that is read exactly: less than any buffer.
const SMALL: usize = 512;

impl ByteSource for net::UnixStream {
    /// Unlike with TCP, a short read may leave data behind: the system stops at a message that
    /// carries descriptors or credentials, and reports no edge for the messages behind it. The
    /// system marks such a message, but asking for the mark makes a call 0.2 µs slower. A small
    /// buffer is usually full after the read, so that nothing could be concluded anyway.
    fn fill(&self, buf: &mut ReadBuf<'_>) -> io::Result<Attempt<()>> {
        let room = buf.remaining();
        if room <= SMALL {
            return uninit::recv(self, buf, RecvFlags::empty()).map(|_| Attempt::Done(()));
        }
        let (n, marked) = uninit::recv_marked(self, buf)?;
        Ok(if marked { Attempt::Done(()) } else { less_than_asked((), n, room) })
    }

    fn fill_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        uninit::recv_buf(self, buf)
    }
}

impl ByteSink for net::UnixStream {
    fn put(&self, buf: &[u8]) -> io::Result<Attempt<usize>> {
        transfer::put(self, buf)
    }

    fn close_writing(&self) -> io::Result<()> {
        transfer::close_writing(self)
    }
}
