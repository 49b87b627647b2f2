//! The halves of a split stream.
//!
//! TCP and Unix streams have halves of the same names and with the same methods, but of different
//! types. They come from macros and not from one generic type, because a program names
//! `tcp::ReuniteError(read, write)` in patterns, which an alias of a generic type doesn't allow.
//! The macros hold docs and calls; the code is [`Evented`]'s and [`WritingShare`]'s.

use std::sync::Arc;
use std::{fmt, io};

use crate::reactor::{ByteSink, Evented};

/// A writing half's share of a connection. Dropping the share closes the writing direction.
pub(super) struct WritingShare<S: Connection> {
    stream: Arc<S>,
    close_on_drop: bool,
}

/// A stream whose writing direction can be closed alone.
pub(super) trait Connection {
    type Descriptor: ByteSink;

    fn evented(&self) -> &Evented<Self::Descriptor>;
}

impl<S: Connection> WritingShare<S> {
    pub(super) fn new(stream: Arc<S>) -> Self {
        WritingShare { stream, close_on_drop: true }
    }

    pub(super) fn stream(&self) -> &S {
        &self.stream
    }

    /// Whether `read` is a share of the same connection.
    pub(super) fn belongs_to(&self, read: &Arc<S>) -> bool {
        Arc::ptr_eq(&self.stream, read)
    }

    /// Drops the share and leaves the writing direction open.
    pub(super) fn forget(mut self) {
        self.close_on_drop = false;
    }

    pub(super) fn close(&mut self) -> io::Result<()> {
        self.stream.evented().close_writing()?;
        self.close_on_drop = false;
        Ok(())
    }

    /// The connection, of which `read` is the only other share.
    pub(super) fn reunite(self, read: Arc<S>) -> S {
        self.forget();
        Arc::into_inner(read).expect("two halves share a connection, and one of them is gone")
    }

    /// Formats the share as the half with this name.
    pub(super) fn fmt_as(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result
    where
        S: fmt::Debug,
    {
        f.debug_struct(name).field("stream", &self.stream).field("close_on_drop", &self.close_on_drop).finish()
    }
}

impl<S: Connection> Drop for WritingShare<S> {
    fn drop(&mut self) {
        if self.close_on_drop {
            // There is no caller to report an error to.
            let _ = self.close();
        }
    }
}

/// `ReadHalf`, `WriteHalf`, and `split`, which makes them.
macro_rules! borrowed_halves {
    ($stream:ident, $std:ty, $address:ty) => {
        #[doc = concat!("The reading half of a borrowed connection, from [`", stringify!($stream), "::split`].")]
        #[derive(Debug)]
        pub struct ReadHalf<'a>(&'a $stream);

        #[doc = concat!("The writing half of a borrowed connection, from [`", stringify!($stream), "::split`].")]
        ///
        /// `shutdown` of [`AsyncWrite`](crate::io::AsyncWrite) closes the writing direction;
        /// dropping the half does not.
        #[derive(Debug)]
        pub struct WriteHalf<'a>(&'a $stream);

        pub(super) fn split(stream: &mut $stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            (ReadHalf(stream), WriteHalf(stream))
        }

        impl ReadHalf<'_> {
            fn stream(&self) -> &$stream {
                self.0
            }
        }

        impl WriteHalf<'_> {
            fn stream(&self) -> &$stream {
                self.0
            }

            fn close(&mut self) -> std::io::Result<()> {
                self.0.evented().close_writing()
            }
        }

        crate::net::halves::reading_half! { ReadHalf<'_>, $stream, $std, $address }
        crate::net::halves::writing_half! { WriteHalf<'_>, $stream, $std, $address }
    };
}

/// `OwnedReadHalf`, `OwnedWriteHalf`, `ReuniteError`, and `split_owned`, which makes the halves.
/// The attributes, meant for an example, go to `reunite`.
macro_rules! owned_halves {
    ($(#[$reunite:meta])* $stream:ident, $std:ty, $address:ty) => {
        #[doc = concat!("The reading half of a connection, from [`", stringify!($stream), "::into_split`].")]
        #[derive(Debug)]
        pub struct OwnedReadHalf {
            stream: std::sync::Arc<$stream>,
        }

        #[doc = concat!("The writing half of a connection, from [`", stringify!($stream), "::into_split`].")]
        ///
        /// Dropping the half closes the writing direction, so that the peer sees the end of the
        /// stream. [`forget`](OwnedWriteHalf::forget) leaves the direction open.
        pub struct OwnedWriteHalf {
            share: crate::net::halves::WritingShare<$stream>,
        }

        /// The halves given to [`reunite`](OwnedReadHalf::reunite) are not of the same connection.
        /// The error contains both.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl crate::net::halves::Connection for $stream {
            type Descriptor = $std;

            fn evented(&self) -> &crate::reactor::Evented<$std> {
                self.evented()
            }
        }

        pub(super) fn split_owned(stream: $stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = std::sync::Arc::new(stream);
            let share = crate::net::halves::WritingShare::new(stream.clone());
            (OwnedReadHalf { stream }, OwnedWriteHalf { share })
        }

        impl OwnedReadHalf {
            /// Puts two halves together again.
            ///
            /// # Errors
            ///
            /// The halves are not of the same connection.
            $(#[$reunite])*
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                match other.share.belongs_to(&self.stream) {
                    true => Ok(other.share.reunite(self.stream)),
                    false => Err(ReuniteError(self, other)),
                }
            }

            fn stream(&self) -> &$stream {
                &self.stream
            }
        }

        impl std::fmt::Debug for OwnedWriteHalf {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.share.fmt_as("OwnedWriteHalf", f)
            }
        }

        impl OwnedWriteHalf {
            /// Puts two halves together again.
            ///
            /// # Errors
            ///
            /// The halves are not of the same connection.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                other.reunite(self)
            }

            /// Drops the half and leaves the writing direction open. The connection is closed when
            /// the reading half is dropped too.
            pub fn forget(self) {
                self.share.forget();
            }

            fn stream(&self) -> &$stream {
                self.share.stream()
            }

            fn close(&mut self) -> std::io::Result<()> {
                self.share.close()
            }
        }

        crate::net::halves::reading_half! { OwnedReadHalf, $stream, $std, $address }
        crate::net::halves::writing_half! { OwnedWriteHalf, $stream, $std, $address }

        impl std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl std::error::Error for ReuniteError {}
    };
}

/// The methods and traits of a half that reads. The half has a method `stream`, which lends out the
/// stream.
macro_rules! reading_half {
    ($half:ty, $stream:ident, $std:ty, $address:ty) => {
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
                self.evented().readable().await
            }
        }

        crate::net::transfer::reading_methods! { $half }
        crate::net::halves::either_half! { $half, $stream, $std, $address }
    };
}

/// The methods and traits of a half that writes. Besides `stream`, the half has
/// `close(&mut self) -> io::Result<()>`.
macro_rules! writing_half {
    ($half:ty, $stream:ident, $std:ty, $address:ty) => {
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
                self.evented().writable().await
            }
        }

        crate::net::transfer::writing_methods! { $half }
        crate::net::transfer::async_write! { $half }
        crate::net::halves::either_half! { $half, $stream, $std, $address }
    };
}

/// The methods of every half.
macro_rules! either_half {
    ($half:ty, $stream:ident, $std:ty, $address:ty) => {
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
                self.evented().ready(interest).await
            }

            /// The address of the other end.
            ///
            /// # Errors
            ///
            /// The error of the system call.
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                self.stream().peer_addr()
            }

            /// The address of this end.
            ///
            /// # Errors
            ///
            /// The error of the system call.
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.stream().local_addr()
            }

            fn evented(&self) -> &crate::reactor::Evented<$std> {
                self.stream().evented()
            }
        }

        impl AsRef<$stream> for $half {
            fn as_ref(&self) -> &$stream {
                self.stream()
            }
        }
    };
}

pub(super) use borrowed_halves;
pub(super) use either_half;
pub(super) use owned_halves;
pub(super) use reading_half;
pub(super) use writing_half;
