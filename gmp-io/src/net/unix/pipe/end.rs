//! The conversions that both ends of a pipe share.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::io::Interest;
use crate::reactor::Evented;

/// The conversions of one end. `$mode` is the access mode it requires, and `$refused` tokio's error
/// message for a file that lacks it.
macro_rules! pipe_end {
    ($end:ident, $interest:expr, $mode:expr, $refused:literal) => {
        impl $end {
            #[track_caller]
            pub(super) fn new(file: std::fs::File) -> std::io::Result<$end> {
                Ok($end { io: crate::net::unix::pipe::end::register(file, $interest)? })
            }

            /// Takes over a file, which must be this end of a pipe, and makes it non-blocking.
            ///
            /// # Errors
            ///
            /// The file is not a pipe, or not open for this direction (`InvalidInput`); else the
            /// error of the system call.
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled.
            #[track_caller]
            pub fn from_file(file: std::fs::File) -> std::io::Result<$end> {
                $end::new(crate::net::unix::pipe::end::checked(file, $mode, $refused)?)
            }

            #[doc = concat!("The same as [`", stringify!($end), "::from_file`], for a descriptor.")]
            ///
            /// # Errors
            ///
            /// The file is not a pipe, or not open for this direction (`InvalidInput`); else the
            /// error of the system call.
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled.
            #[track_caller]
            pub fn from_owned_fd(owned_fd: std::os::fd::OwnedFd) -> std::io::Result<$end> {
                $end::from_file(owned_fd.into())
            }

            /// Takes over a file without checking it. The file must be non-blocking, and of a kind
            /// whose readiness the system can report.
            ///
            /// # Errors
            ///
            /// The system can't register the descriptor, for example because it is a regular file
            /// (`PermissionDenied`).
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled.
            #[track_caller]
            pub fn from_file_unchecked(file: std::fs::File) -> std::io::Result<$end> {
                $end::new(file)
            }

            #[doc = concat!("The same as [`", stringify!($end), "::from_file_unchecked`], for a descriptor.")]
            ///
            /// # Errors
            ///
            /// The system can't register the descriptor.
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled.
            #[track_caller]
            pub fn from_owned_fd_unchecked(owned_fd: std::os::fd::OwnedFd) -> std::io::Result<$end> {
                $end::new(owned_fd.into())
            }

            /// Returns the descriptor and makes it blocking, as a child process expects.
            ///
            /// # Errors
            ///
            /// The system can't deregister the descriptor.
            pub fn into_blocking_fd(self) -> std::io::Result<std::os::fd::OwnedFd> {
                self.into_nonblocking_fd().and_then(crate::net::unix::pipe::end::blocking)
            }

            /// Returns the descriptor, which stays non-blocking.
            ///
            /// # Errors
            ///
            /// The system can't deregister the descriptor.
            pub fn into_nonblocking_fd(self) -> std::io::Result<std::os::fd::OwnedFd> {
                self.io.into_io().map(std::os::fd::OwnedFd::from)
            }

            fn evented(&self) -> &crate::reactor::Evented<std::fs::File> {
                &self.io
            }

            /// Runs `f` once if this end is thought to be ready.
            ///
            /// `f` does an operation of its own on the descriptor. `f` must not block, and must
            /// return `WouldBlock` if and only if the descriptor was not ready: that clears the
            /// readiness.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if the end is not ready; else the error that `f` returns.
            pub fn try_io<R>(&self, f: impl FnOnce() -> std::io::Result<R>) -> std::io::Result<R> {
                self.io.try_io($interest, |_| f())
            }
        }

        crate::net::descriptor::descriptor_traits! { $end }
        crate::net::readiness::ready_method! { $end, "pipe" }
    };
}

pub(super) use pipe_end;

/// Registers a file, which must be non-blocking, as the end of a pipe.
#[track_caller]
pub(super) fn register(file: File, interest: Interest) -> io::Result<Evented<File>> {
    Evented::with_interest(file, interest).map(Evented::reopening).map_err(|(error, _)| error)
}

/// Checks that the file is a pipe and open for `mode`, and makes it non-blocking.
pub(super) fn checked(file: File, mode: OFlags, refused: &'static str) -> io::Result<File> {
    check_is_pipe(&file)?;
    prepare(&file, mode, refused)?;
    Ok(file)
}

pub(super) fn blocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    let flags = fcntl_getfl(&fd)?;
    fcntl_setfl(&fd, flags - OFlags::NONBLOCK)?;
    Ok(fd)
}

pub(super) fn check_is_pipe(file: &File) -> io::Result<()> {
    if file.metadata()?.file_type().is_fifo() { Ok(()) } else { Err(invalid("not a pipe")) }
}

/// Checks that the file is open for `mode`, and makes it non-blocking.
fn prepare(file: impl AsFd, mode: OFlags, refused: &'static str) -> io::Result<()> {
    let flags = fcntl_getfl(&file)?;
    if ![mode, OFlags::RDWR].contains(&(flags & OFlags::RWMODE)) {
        return Err(invalid(refused));
    }
    if !flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&file, flags | OFlags::NONBLOCK)?;
    }
    Ok(())
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
