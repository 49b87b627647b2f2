//! The methods of every type with a descriptor: conversions from and to the standard library, and
//! the traits that lend out the descriptor.

use std::io;
use std::os::fd::AsFd;

/// A blocking socket would block the thread in its first read. As on tokio, debug builds panic,
/// with the same first sentence.
#[track_caller]
pub(super) fn check_nonblocking(socket: &impl AsFd) -> io::Result<()> {
    debug_assert!(
        socket2::SockRef::from(socket).nonblocking()?,
        "Registering a blocking socket with the tokio runtime is unsupported. \
         Call `set_nonblocking(true)` on it before.",
    );
    Ok(())
}

/// `new`, `from_std`, `into_std` and `TryFrom`, for a type whose only field is `io: Evented<$std>`,
/// which `$register` makes. The attributes, meant for examples, are appended to the methods' docs.
macro_rules! std_conversions {
    (
        $type:ident, $std:ty, $what:literal, $register:path;
        $(#[$from:meta])* from_std;
        $(#[$into:meta])* into_std;
    ) => {
        impl $type {
            #[track_caller]
            pub(in crate::net) fn new(socket: $std) -> std::io::Result<Self> {
                Ok($type { io: $register(socket)? })
            }

            #[doc = concat!("Takes over the standard library's ", $what, ", which must be non-blocking.")]
            ///
            /// # Errors
            ///
            /// The system can't register the descriptor.
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled. In debug builds, if
            /// the socket is blocking.
            $(#[$from])*
            #[track_caller]
            pub fn from_std(socket: $std) -> std::io::Result<Self> {
                crate::net::descriptor::check_nonblocking(&socket)?;
                Self::new(socket)
            }

            #[doc = concat!("Returns the standard library's ", $what, ", which stays non-blocking.")]
            ///
            /// # Errors
            ///
            /// The system can't deregister the descriptor.
            $(#[$into])*
            pub fn into_std(self) -> std::io::Result<$std> {
                self.io.into_io()
            }
        }

        impl TryFrom<$std> for $type {
            type Error = std::io::Error;

            #[doc = concat!("The same as [`", stringify!($type), "::from_std`].")]
            fn try_from(socket: $std) -> std::io::Result<Self> {
                Self::from_std(socket)
            }
        }
    };
}

/// `AsFd`, `AsRawFd` and `Debug`, which formats the descriptor.
macro_rules! descriptor_traits {
    ($type:ty) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.io.io().as_fd()
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.io.io().as_raw_fd()
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.io.fmt(f)
            }
        }
    };
}

pub(super) use descriptor_traits;
pub(super) use std_conversions;
