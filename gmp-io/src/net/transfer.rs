//! The public methods and traits that read and write: what streams and pipes share.
//!
//! Macros, for the reason that [`readiness`](super::readiness) gives. They hold docs and calls; the
//! code is [`Evented`](crate::reactor::Evented)'s, in `reactor/evented/transfer.rs`. A type that
//! uses them has a method `evented`, which lends out its `Evented<_>`.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;

use socket2::SockRef;

use crate::reactor::{Attempt, less_than_asked};

/// Writes once to a stream socket.
pub(super) fn put(mut socket: impl Write, buf: &[u8]) -> io::Result<Attempt<usize>> {
    let n = socket.write(buf)?;
    Ok(less_than_asked(n, n, buf.len()))
}

/// Closes the writing direction of a stream socket. A connection that the peer has reset is closed
/// already.
pub(super) fn close_writing(socket: impl AsFd) -> io::Result<()> {
    match SockRef::from(&socket).shutdown(Shutdown::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}

/// `AsyncRead` and the methods that read without waiting.
macro_rules! reading_methods {
    ($type:ty) => {
        impl $type {
            /// Reads without waiting. Returns the number of bytes; 0 means that the other side has
            /// stopped writing, or that `buf` is empty.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is nothing to read; else the error of the system call.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.evented().try_read(buf)
            }

            /// Reads into several buffers, one after the other, without waiting. Returns the number
            /// of bytes.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is nothing to read; else the error of the system call.
            pub fn try_read_vectored(&self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                self.evented().try_read_vectored(bufs)
            }

            /// Reads into the spare room of `buf`, without waiting. Returns the number of bytes, by
            /// which `buf` has been advanced.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is nothing to read; else the error of the system call.
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.evented().try_read_buf(buf)
            }
        }

        impl crate::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.evented().poll_read(cx, buf)
            }
        }
    };
}

/// The methods that write without waiting.
macro_rules! writing_methods {
    ($type:ty) => {
        impl $type {
            /// Writes as much as there is room for, without waiting. Returns the number of bytes.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the error of the system call.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.evented().try_write(buf)
            }

            /// Writes several buffers, one after the other, as far as there is room, without
            /// waiting. Returns the number of bytes.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the error of the system call.
            pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.evented().try_write_vectored(bufs)
            }
        }
    };
}

/// `AsyncWrite`, for a type with a method `close`, which is what `shutdown` does.
macro_rules! async_write {
    ($type:ty) => {
        impl crate::io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.evented().poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.evented().poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            /// Ready at once: bytes that were written are with the system.
            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(self.get_mut().close())
            }
        }
    };
}

/// All of the above for a stream that goes in both directions.
macro_rules! stream_methods {
    ($type:ty, $std:ty) => {
        crate::net::transfer::reading_methods! { $type }
        crate::net::transfer::writing_methods! { $type }
        crate::net::transfer::async_write! { $type }

        impl $type {
            pub(in crate::net) fn evented(&self) -> &crate::reactor::Evented<$std> {
                &self.io
            }

            fn close(&self) -> std::io::Result<()> {
                self.io.close_writing()
            }
        }

        impl AsRef<Self> for $type {
            fn as_ref(&self) -> &Self {
                self
            }
        }
    };
}

pub(super) use async_write;
pub(super) use reading_methods;
pub(super) use stream_methods;
pub(super) use writing_methods;
