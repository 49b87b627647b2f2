//! What the borrowed and the owned halves have in common: the part of the stream's methods that is about one direction.
//!
//! A type that uses these macros has a method `stream`, which lends out the stream, and for writing
//! `close(&mut self) -> io::Result<()>`.

/// The methods and traits of a half that reads.
macro_rules! reading_half {
    ($half:ty, $stream:ident, $address:ty) => {
        impl $half {
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

            /// Reads what is there, without waiting, as the whole connection's `try_read`.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.stream().try_read(buf)
            }

            /// Reads what is there into several buffers, without waiting, as the whole connection's
            /// `try_read_vectored`.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if nothing is there; else the system's.
            pub fn try_read_vectored(&self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                self.stream().try_read_vectored(bufs)
            }

            /// Reads what is there into the spare room of `buf`, without waiting, as the whole connection's
            /// `try_read_buf`.
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

        crate::net::halves::either_half! { $half, $stream, $address }
    };
}

/// The methods and traits of a half that writes.
macro_rules! writing_half {
    ($half:ty, $stream:ident, $address:ty) => {
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

            /// Writes what there is room for, without waiting, as the whole connection's `try_write`.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the system's.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.stream().try_write(buf)
            }

            /// Writes what there is room for out of several buffers, without waiting, as the whole connection's
            /// `try_write_vectored`.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; else the system's.
            pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.stream().try_write_vectored(bufs)
            }
        }

        crate::net::transfer::async_write! { $half, close }
        crate::net::halves::either_half! { $half, $stream, $address }
    };
}

/// What both kinds have.
macro_rules! either_half {
    ($half:ty, $stream:ident, $address:ty) => {
        impl $half {
            /// Waits until the connection is ready for part of `interest`, and says for which.
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
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                self.stream().peer_addr()
            }

            /// The address of this end.
            ///
            /// # Errors
            ///
            /// The system's.
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.stream().local_addr()
            }
        }

        impl AsRef<$stream> for $half {
            fn as_ref(&self) -> &$stream {
                self.stream()
            }
        }
    };
}

pub(in crate::net) use either_half;
pub(in crate::net) use reading_half;
pub(in crate::net) use writing_half;
