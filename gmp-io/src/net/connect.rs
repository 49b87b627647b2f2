//! Connecting without blocking: start, wait until there is room to write, and ask whether it has failed.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use socket2::{SockAddr, SockRef, Socket};

use crate::reactor::{Direction, Evented};

/// How far the first step has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Started {
    /// The connection is made.
    Connected,
    /// The system goes on.
    InProgress,
}

pub(super) fn start(socket: &Socket, address: &SockAddr) -> io::Result<Started> {
    match socket.connect(address) {
        Ok(()) => Ok(Started::Connected),
        Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => Ok(Started::InProgress),
        Err(error) => Err(error),
    }
}

/// Waits until a connection in progress is made, or has failed.
pub(super) async fn finish(io: &Evented<impl AsFd>) -> io::Result<()> {
    poll_fn(|cx| io.registration().poll_ready(cx, Direction::Write)).await?;
    SockRef::from(io.io()).take_error()?.map_or(Ok(()), Err)
}
