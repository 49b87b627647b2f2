//! Reading and writing: what streams and pipes share.
//!
//! The traits want `&mut self`, but the halves of a split stream share one, so what does the work takes `&self`. Macros, for
//! the reason that [`readiness`](super::readiness) has. A type that uses them has a field `io: Evented<_>`, whose descriptor
//! implements the standard library's `Read` or `Write` by reference.

use crate::reactor::Attempt;

/// A stream that moved fewer bytes than asked has none left in its buffer, or no room. 0 of them is the end of the stream,
/// which stays.
pub(super) fn less_than_asked<R>(result: R, moved: usize, asked: usize) -> Attempt<R> {
    if 0 < moved && moved < asked { Attempt::Drained(result) } else { Attempt::Done(result) }
}

/// `AsyncRead` and the methods that read without waiting.
///
/// The type has a method `fill(&self, &mut ReadBuf<'_>) -> io::Result<Attempt<()>>`, which reads once. The second parameter is
/// the function that reads into a `BufMut`.
macro_rules! reading_methods {
    ($type:ty, $read_buf:path) => {
        impl $type {
            /// Reads what is there, without waiting. Returns the number of bytes; 0 means that the other side has stopped
            /// writing, or that `buf` is empty.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                let read = || std::io::Read::read(&mut self.io.io(), buf);
                self.io.registration().try_io(crate::io::Interest::READABLE, read)
            }

            /// Reads what is there into several buffers, one after the other, without waiting. Returns the number of bytes.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read_vectored(&self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                let read = || std::io::Read::read_vectored(&mut self.io.io(), bufs);
                self.io.registration().try_io(crate::io::Interest::READABLE, read)
            }

            /// Reads what is there into the spare room of `buf`, without waiting. Returns the number of bytes, by which `buf`
            /// has been advanced.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                let read = || $read_buf(self.io.io(), buf);
                self.io.registration().try_io(crate::io::Interest::READABLE, read)
            }

            pub(in crate::net) fn poll_read_shared(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.registration().poll_io(cx, crate::reactor::Direction::Read, || self.fill(buf))
            }
        }

        impl crate::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.poll_read_shared(cx, buf)
            }
        }
    };
}

/// The methods that write, with and without waiting.
///
/// The type has a method `put(&self, &[u8]) -> io::Result<Attempt<usize>>`, which writes once.
macro_rules! writing_methods {
    ($type:ty) => {
        impl $type {
            /// Writes what there is room for, without waiting. Returns the number of bytes.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the system's.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                let write = || std::io::Write::write(&mut self.io.io(), buf);
                self.io.registration().try_io(crate::io::Interest::WRITABLE, write)
            }

            /// Writes what there is room for out of several buffers, one after the other, without waiting. Returns the number
            /// of bytes.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the system's.
            pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                let write = || std::io::Write::write_vectored(&mut self.io.io(), bufs);
                self.io.registration().try_io(crate::io::Interest::WRITABLE, write)
            }

            pub(in crate::net) fn poll_write_shared(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.registration().poll_io(cx, crate::reactor::Direction::Write, || self.put(buf))
            }

            /// A short vectored write says nothing about the descriptor: the standard library passes on at most `IOV_MAX`
            /// buffers.
            pub(in crate::net) fn poll_write_vectored_shared(
                &self,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.registration().poll_io(cx, crate::reactor::Direction::Write, || {
                    std::io::Write::write_vectored(&mut self.io.io(), bufs).map(crate::reactor::Attempt::Done)
                })
            }
        }
    };
}

/// `AsyncWrite` for a type whose method `stream` lends out what has the methods above. `$close` is what `shutdown` does.
macro_rules! async_write {
    ($type:ty, $close:ident) => {
        impl crate::io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.stream().poll_write_shared(cx, buf)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.stream().poll_write_vectored_shared(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            /// Done at once: what was written is with the system.
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
                std::task::Poll::Ready(self.get_mut().$close())
            }
        }
    };
}

/// Everything above for a stream socket, which also closes one direction alone.
macro_rules! stream_methods {
    ($type:ty) => {
        crate::net::transfer::reading_methods! { $type, crate::io::uninit::recv_buf }
        crate::net::transfer::writing_methods! { $type }
        crate::net::transfer::async_write! { $type, close_writing }

        impl $type {
            fn stream(&self) -> &Self {
                self
            }

            fn put(&self, buf: &[u8]) -> std::io::Result<crate::reactor::Attempt<usize>> {
                let n = std::io::Write::write(&mut self.io.io(), buf)?;
                Ok(crate::net::transfer::less_than_asked(n, n, buf.len()))
            }

            /// Closes the writing direction. A connection that the peer has reset is closed already.
            pub(in crate::net) fn close_writing(&self) -> std::io::Result<()> {
                match self.io.io().shutdown(std::net::Shutdown::Write) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotConnected => Ok(()),
                    result => result,
                }
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
