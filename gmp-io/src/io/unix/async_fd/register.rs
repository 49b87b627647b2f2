//! Making an [`AsyncFd`] from a descriptor.
//!
//! `AsRawFd` is a safe trait: a type may return any number. Only its author, or the caller, can
//! promise that the number stays that of an open descriptor, and [`AsFd`] relies on that promise.
//! So the constructors are `unsafe`. The safe ones are older; tokio keeps them for programs that
//! use them.
#![allow(
    unsafe_code,
    reason = "the constructors are unsafe, and borrowing the descriptor rests on what they are promised"
)]

use std::error::Error;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::{fmt, io};

use super::AsyncFd;
use crate::io::Interest;
use crate::reactor::Evented;

/// A descriptor could not be registered. The error contains the value that owns it.
///
/// Formats as the system's error.
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// The old name of [`AsyncFdRegisterError`].
#[doc(hidden)]
#[deprecated = "renamed to `AsyncFdRegisterError`"]
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

impl<T: AsRawFd> AsyncFd<T> {
    /// Registers a descriptor with the current runtime, for reading and writing.
    ///
    /// # Errors
    ///
    /// The error of the system call: `PermissionDenied` if this kind of descriptor can't be waited
    /// for, such as a regular file, and `AlreadyExists` if the descriptor is registered already.
    /// The error contains `inner`.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Safety
    ///
    /// `inner.as_raw_fd()` must return an open descriptor, the same at each call. It must stay open
    /// and refer to the same open file for as long as the `AsyncFd` owns `inner`: until the
    /// `AsyncFd` is dropped, forgotten, or consumed by [`into_inner`](AsyncFd::into_inner).
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use std::io::ErrorKind;
    /// use std::net::UdpSocket;
    ///
    /// use gmp_io::io::unix::AsyncFd;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_nonblocking(true)?;
    /// // SAFETY: the socket owns its descriptor, and nothing replaces it.
    /// let socket = unsafe { AsyncFd::register(socket) }?;
    ///
    /// let file = std::fs::File::open(std::env::current_exe()?)?;
    /// // SAFETY: the same.
    /// let error = unsafe { AsyncFd::register(file) }.expect_err("a file is always ready");
    /// let (file, error) = error.into_parts();
    /// assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub unsafe fn register(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::attach(inner, BOTH)
    }

    /// Registers a descriptor with the current runtime, for `interest` only. Other events are not
    /// reported, except errors and, on Linux, that the other side has gone.
    ///
    /// # Errors
    ///
    /// As for [`register`](AsyncFd::register).
    ///
    /// # Panics
    ///
    /// As for [`register`](AsyncFd::register).
    ///
    /// # Safety
    ///
    /// As for [`register`](AsyncFd::register).
    #[track_caller]
    pub unsafe fn register_with_interest(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::attach(inner, interest)
    }

    /// As [`register`](AsyncFd::register), but safe, because it requires no promise. An error drops
    /// `inner`.
    ///
    /// # Errors
    ///
    /// As for [`register`](AsyncFd::register).
    ///
    /// # Panics
    ///
    /// As for [`register`](AsyncFd::register).
    #[track_caller]
    #[deprecated = "unsound for a type whose descriptor doesn't stay open; use `AsyncFd::register`"]
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::attach(inner, BOTH)?)
    }

    /// As [`register_with_interest`](AsyncFd::register_with_interest), but safe, because it
    /// requires no promise. An error drops `inner`.
    ///
    /// # Errors
    ///
    /// As for [`register`](AsyncFd::register).
    ///
    /// # Panics
    ///
    /// As for [`register`](AsyncFd::register).
    #[track_caller]
    #[deprecated = "unsound for a type whose descriptor doesn't stay open; use `AsyncFd::register_with_interest`"]
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<Self> {
        Ok(Self::attach(inner, interest)?)
    }

    /// As [`register`](AsyncFd::register), but safe, because it requires no promise.
    ///
    /// # Errors
    ///
    /// As for [`register`](AsyncFd::register).
    ///
    /// # Panics
    ///
    /// As for [`register`](AsyncFd::register).
    #[track_caller]
    #[deprecated = "unsound for a type whose descriptor doesn't stay open; use `AsyncFd::register`"]
    pub fn try_new(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::attach(inner, BOTH)
    }

    /// As [`register_with_interest`](AsyncFd::register_with_interest), but safe, because it
    /// requires no promise.
    ///
    /// # Errors
    ///
    /// As for [`register`](AsyncFd::register).
    ///
    /// # Panics
    ///
    /// As for [`register`](AsyncFd::register).
    #[track_caller]
    #[deprecated = "unsound for a type whose descriptor doesn't stay open; use `AsyncFd::register_with_interest`"]
    pub fn try_with_interest(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::attach(inner, interest)
    }

    #[track_caller]
    fn attach(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        match Evented::with_interest(inner, interest) {
            Ok(io) => Ok(AsyncFd { io }),
            Err((cause, inner)) => Err(AsyncFdRegisterError { inner, cause }),
        }
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the caller of `register` promised that the number is that of an open descriptor
        // for as long as `self` owns `inner`, which is longer than this borrow.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl<T> AsyncFdRegisterError<T> {
    /// The value that could not be registered, and the system's error.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.cause, f)
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> Self {
        error.cause
    }
}
