//! Conversions between a file and its descriptor.
#![allow(unsafe_code, reason = "`FromRawFd`, whose contract is the caller's")]

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::File;

impl From<fs::File> for File {
    fn from(std: fs::File) -> Self {
        Self::from_std(std)
    }
}

impl From<OwnedFd> for File {
    fn from(descriptor: OwnedFd) -> Self {
        Self::from_std(descriptor.into())
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.std.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.std.as_raw_fd()
    }
}

impl FromRawFd for File {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller promises what `fs::File` requires: an open descriptor that nothing
        // else owns.
        unsafe { fs::File::from_raw_fd(fd) }.into()
    }
}
