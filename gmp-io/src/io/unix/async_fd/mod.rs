//! Waiting for a descriptor that this crate has no type for.

mod guard;
mod register;

use std::os::fd::{AsRawFd, RawFd};
use std::task::{Context, Poll};
use std::{fmt, io};

pub use guard::{AsyncFdReadyGuard, AsyncFdReadyMutGuard, TryIoError};
pub use register::AsyncFdRegisterError;
#[allow(deprecated, reason = "tokio still has the old name")]
pub use register::AsyncFdTryNewError;

use crate::io::Interest;
use crate::reactor::{Direction, Evented};

/// Waits for a descriptor that this crate has no type for: one of another library, an eventfd, a
/// device.
///
/// `T` is the value that owns the descriptor. The descriptor must be of a kind that the system can
/// wait for, which regular files are not, and in non-blocking mode. The operations are left to the
/// caller; this type says when they are worth trying.
///
/// The system reports a descriptor that *becomes* ready, and does not report it again while it
/// stays ready. So readiness is remembered here until it is cleared, and **the caller has to clear
/// it when, and only when, an operation returned `WouldBlock`**. If it is cleared too early, a task
/// waits for an event that has already come; if never, the task tries again and again.
/// [`try_io`](AsyncFd::try_io), [`async_io`](AsyncFd::async_io) and the [guard's
/// `try_io`](AsyncFdReadyGuard::try_io) clear it for operations that return an [`io::Error`];
/// [`clear_ready`](AsyncFdReadyGuard::clear_ready) is for all others.
///
/// Any number of tasks can wait through the `async` methods at the same time. The `poll_*` methods
/// have one slot for each direction, which the last task to poll gets.
///
/// Dropping the `AsyncFd` deregisters the descriptor first and drops `T` second.
///
/// # Examples
///
/// A stream made of one end of a socket pair:
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use std::io::{self, Read, Write};
/// use std::os::unix::net::UnixStream;
/// use std::pin::Pin;
/// use std::task::{Context, Poll, ready};
///
/// use gmp_io::io::unix::AsyncFd;
/// use gmp_io::io::{AsyncRead, ReadBuf};
/// use tokio::io::AsyncReadExt;
///
/// struct Reader(AsyncFd<UnixStream>);
///
/// impl AsyncRead for Reader {
///     fn poll_read(
///         self: Pin<&mut Self>,
///         cx: &mut Context<'_>,
///         buf: &mut ReadBuf<'_>,
///     ) -> Poll<io::Result<()>> {
///         loop {
///             let mut guard = ready!(self.0.poll_read_ready(cx))?;
///             let room = buf.initialize_unfilled();
///             // `Err` stands for `WouldBlock`: the guard has cleared the readiness, so wait again.
///             if let Ok(read) = guard.try_io(|fd| fd.get_ref().read(room)) {
///                 return Poll::Ready(read.map(|n| buf.advance(n)));
///             }
///         }
///     }
/// }
///
/// let (ours, mut theirs) = UnixStream::pair()?;
/// ours.set_nonblocking(true)?;
/// // SAFETY: `ours` keeps its descriptor open, and nothing replaces it.
/// let mut reader = Reader(unsafe { AsyncFd::register(ours) }?);
///
/// theirs.write_all(b"hello")?;
/// drop(theirs);
/// let mut received = String::new();
/// reader.read_to_string(&mut received).await?;
/// assert_eq!(received, "hello");
/// # io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct AsyncFd<T: AsRawFd> {
    io: Evented<T>,
}

impl<T: AsRawFd> AsyncFd<T> {
    /// The value that owns the descriptor.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// assert!(ours.get_ref().local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn get_ref(&self) -> &T {
        self.io.io()
    }

    /// The value that owns the descriptor. Do not replace it with another one: that would break the
    /// promise made to [`register`](AsyncFd::register).
    pub fn get_mut(&mut self) -> &mut T {
        self.io.parts_mut().1
    }

    /// Deregisters the descriptor and returns the value that owns it.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// let socket: UnixDatagram = ours.into_inner();
    /// assert_eq!(theirs.send(b"hello")?, 5);
    /// assert_eq!(socket.recv(&mut [0; 16])?, 5);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn into_inner(self) -> T {
        // Deregistering fails if the descriptor is closed already, and then there is nothing to
        // undo.
        self.io.release().0
    }

    /// Waits until the descriptor is ready for part of `interest`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until it is cleared.
    ///
    /// # Examples
    ///
    /// Out-of-band data:
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// # let peer = std::net::TcpStream::connect(listener.local_addr()?)?;
    /// use gmp_io::io::Interest;
    /// use gmp_io::io::unix::AsyncFd;
    ///
    /// let (stream, _) = listener.accept()?;
    /// stream.set_nonblocking(true)?;
    /// # // SAFETY: the stream keeps its descriptor open.
    /// let stream = unsafe { AsyncFd::register_with_interest(stream, Interest::PRIORITY) }?;
    /// # socket2::SockRef::from(&peer).send_out_of_band(b"!")?;
    ///
    /// let guard = stream.ready(Interest::PRIORITY).await?;
    /// assert!(guard.ready().is_priority());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let event = self.io.registration().readiness(interest).await?;
        Ok(AsyncFdReadyGuard::new(self, event))
    }

    /// Waits until the descriptor is ready for part of `interest`. The guard lends out `&mut T`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until it is cleared.
    pub async fn ready_mut(&mut self, interest: Interest) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let event = self.io.registration().readiness(interest).await?;
        Ok(AsyncFdReadyMutGuard::new(self, event))
    }

    /// Waits until there is something to read, or the other side has stopped writing.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until it is cleared.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// theirs.send(b"hello")?;
    /// let mut guard = ours.readable().await?;
    /// let n = guard.try_io(|fd| fd.get_ref().recv(&mut [0; 16])).expect("it was ready")?;
    /// assert_eq!(n, 5);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::READABLE).await
    }

    /// As [`readable`](AsyncFd::readable). The guard lends out `&mut T`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until it is cleared.
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// Waits until there is room to write, or writing fails at once.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until it is cleared.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// let mut guard = ours.writable().await?;
    /// let n = guard.try_io(|fd| fd.get_ref().send(b"hello")).expect("it was ready")?;
    /// assert_eq!((n, theirs.recv(&mut [0; 16])?), (5, 5));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// As [`writable`](AsyncFd::writable). The guard lends out `&mut T`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: readiness stays until it is cleared.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }

    /// Polls for something to read. If there is nothing, the task is woken later.
    ///
    /// Of several tasks that poll, only the last one is woken.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// use std::future::poll_fn;
    ///
    /// theirs.send(b"hello")?;
    /// let guard = poll_fn(|cx| ours.poll_read_ready(cx)).await?;
    /// assert!(guard.ready().is_readable());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_read_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let event = self.io.registration().poll_ready(cx, Direction::Read);
        event.map_ok(|event| AsyncFdReadyGuard::new(self, event))
    }

    /// As [`poll_read_ready`](AsyncFd::poll_read_ready). The guard lends out `&mut T`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let event = self.io.registration().poll_ready(cx, Direction::Read);
        event.map_ok(|event| AsyncFdReadyMutGuard::new(self, event))
    }

    /// Polls for room to write. If there is none, the task is woken later.
    ///
    /// Of several tasks that poll, only the last one is woken.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// use std::future::poll_fn;
    ///
    /// let guard = poll_fn(|cx| ours.poll_write_ready(cx)).await?;
    /// assert!(guard.ready().is_writable());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_write_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let event = self.io.registration().poll_ready(cx, Direction::Write);
        event.map_ok(|event| AsyncFdReadyGuard::new(self, event))
    }

    /// As [`poll_write_ready`](AsyncFd::poll_write_ready). The guard lends out `&mut T`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down.
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let event = self.io.registration().poll_ready(cx, Direction::Write);
        event.map_ok(|event| AsyncFdReadyMutGuard::new(self, event))
    }

    /// Runs `f` once if the descriptor is thought to be ready for part of `interest`.
    ///
    /// `f` must not block, and must return `WouldBlock` if and only if the descriptor was not
    /// ready: that clears the readiness.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if the descriptor is not ready; else the error that `f` returns.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::os::unix::net::UnixDatagram;
    /// # let (ours, theirs) = UnixDatagram::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
    /// use std::io::ErrorKind;
    ///
    /// use gmp_io::io::Interest;
    ///
    /// let result = ours.try_io(Interest::READABLE, |socket| socket.recv(&mut [0; 16]));
    /// assert_eq!(result.unwrap_err().kind(), ErrorKind::WouldBlock, "nothing was sent");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_io<R>(&self, interest: Interest, f: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(interest, f)
    }

    /// As [`try_io`](AsyncFd::try_io), for an operation that needs `&mut T`.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if the descriptor is not ready; else the error that `f` returns.
    pub fn try_io_mut<R>(&mut self, interest: Interest, f: impl FnOnce(&mut T) -> io::Result<R>) -> io::Result<R> {
        let (registration, io) = self.io.parts_mut();
        registration.try_io(interest, || f(io))
    }

    /// Runs `f` until it does not return `WouldBlock`, and waits before each run until the
    /// descriptor is ready for part of `interest`.
    ///
    /// `f` must not block, and must return `WouldBlock` if and only if the descriptor was not
    /// ready.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down; else the error that `f` returns, except `WouldBlock`.
    ///
    /// # Cancel safety
    ///
    /// `f` is run to its end or not at all, so nothing is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::os::unix::net::UnixDatagram;
    /// use gmp_io::io::Interest;
    /// use gmp_io::io::unix::AsyncFd;
    ///
    /// let (ours, theirs) = UnixDatagram::pair()?;
    /// ours.set_nonblocking(true)?;
    /// # // SAFETY: the socket keeps its descriptor open.
    /// let ours = unsafe { AsyncFd::register(ours) }?;
    ///
    /// theirs.send(b"hello")?;
    /// let mut received = [0; 16];
    /// let n = ours.async_io(Interest::READABLE, |socket| socket.recv(&mut received)).await?;
    /// assert_eq!(&received[..n], b"hello");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn async_io<R>(&self, interest: Interest, f: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.io.async_io(interest, f).await
    }

    /// As [`async_io`](AsyncFd::async_io), for an operation that needs `&mut T`.
    ///
    /// # Errors
    ///
    /// The runtime is being shut down; else the error that `f` returns, except `WouldBlock`.
    ///
    /// # Cancel safety
    ///
    /// `f` is run to its end or not at all, so nothing is lost.
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let (registration, io) = self.io.parts_mut();
        registration.async_io(interest, || f(io)).await
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", self.get_ref()).finish()
    }
}
