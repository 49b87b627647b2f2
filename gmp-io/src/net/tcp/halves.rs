//! What the borrowed and the owned halves have in common: the part of [`TcpStream`](super::TcpStream)'s methods that is
//! about one direction.
//!
//! Written as macros and not as a trait, because tokio has them as methods of the types, which need no import. A type that
//! uses them has a method `stream(&self) -> &TcpStream`, and for writing `close(&mut self) -> io::Result<()>`.

/// The methods and traits of a half that reads.
macro_rules! reading_half {
    ($half:ty) => {
        impl $half {
            /// Looks at what there is to read and leaves it there: see [`TcpStream::poll_peek`].
            ///
            /// # Errors
            ///
            /// The system's.
            pub fn poll_peek(
                &mut self,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.stream().poll_peek(cx, buf)
            }

            /// Waits until there is something to read, looks at it and leaves it there. Returns the number of bytes; 0
            /// means that the peer has stopped writing.
            ///
            /// # Errors
            ///
            /// The system's.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: the bytes stay.
            pub async fn peek(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                let mut buf = crate::io::ReadBuf::new(buf);
                std::future::poll_fn(|cx| self.poll_peek(cx, &mut buf)).await
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
            pub async fn readable(&self) -> std::io::Result<()> {
                self.stream().readable().await
            }

            /// Reads what is there, without waiting: see [`TcpStream::try_read`].
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.stream().try_read(buf)
            }

            /// Reads what is there into several buffers, without waiting: see [`TcpStream::try_read_vectored`].
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read_vectored(&self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                self.stream().try_read_vectored(bufs)
            }

            /// Reads what is there into the spare room of `buf`, without waiting: see [`TcpStream::try_read_buf`].
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.stream().try_read_buf(buf)
            }
        }

        impl crate::io::AsyncRead for $half {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.stream().poll_read_shared(cx, buf)
            }
        }

        super::halves::either_half! { $half }
    };
}

/// The methods and traits of a half that writes.
macro_rules! writing_half {
    ($half:ty) => {
        impl $half {
            /// Waits until there is room to write, or writing fails at once.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.stream().writable().await
            }

            /// Writes what there is room for, without waiting: see [`TcpStream::try_write`].
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the system's.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.stream().try_write(buf)
            }

            /// Writes what there is room for out of several buffers, without waiting: see
            /// [`TcpStream::try_write_vectored`].
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the system's.
            pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.stream().try_write_vectored(bufs)
            }
        }

        impl crate::io::AsyncWrite for $half {
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
                self.stream().is_write_vectored()
            }

            /// Done at once: what was written is with the system.
            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(Ok(()))
            }

            /// Closes the writing direction.
            fn poll_shutdown(
                mut self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(self.close())
            }
        }

        super::halves::either_half! { $half }
    };
}

/// What both kinds have.
macro_rules! either_half {
    ($half:ty) => {
        impl $half {
            /// Waits until the connection is ready for part of `interest`, and says for which: see [`TcpStream::ready`].
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
            pub async fn ready(&self, interest: crate::io::Interest) -> std::io::Result<crate::io::Ready> {
                self.stream().ready(interest).await
            }

            /// The address of the other end.
            ///
            /// # Errors
            ///
            /// The system's.
            pub fn peer_addr(&self) -> std::io::Result<std::net::SocketAddr> {
                self.stream().peer_addr()
            }

            /// The address of this end.
            ///
            /// # Errors
            ///
            /// The system's.
            pub fn local_addr(&self) -> std::io::Result<std::net::SocketAddr> {
                self.stream().local_addr()
            }
        }

        impl AsRef<TcpStream> for $half {
            fn as_ref(&self) -> &TcpStream {
                self.stream()
            }
        }
    };
}

pub(super) use {either_half, reading_half, writing_half};
