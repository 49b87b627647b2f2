//! Connecting without blocking: start, wait until the socket is writable, ask whether the attempt
//! has failed.
//!
//! A connection on the same machine is often made before the first step returns. `finish` waits all
//! the same, because programs see the order of polls: on tokio `connect` is pending at its first
//! poll, and tasks that were started beside it get their turn.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use socket2::{SockAddr, SockRef, Socket};

use crate::reactor::Evented;

/// Starts connecting. The system goes on by itself.
pub(super) fn start(socket: &Socket, address: &SockAddr) -> io::Result<()> {
    let in_progress = Some(Errno::INPROGRESS.raw_os_error());
    socket.connect(address).or_else(|error| if error.raw_os_error() == in_progress { Ok(()) } else { Err(error) })
}

/// Waits until the connection is made or has failed.
pub(super) async fn finish(io: &Evented<impl AsFd>) -> io::Result<()> {
    poll_fn(|cx| io.poll_write_ready(cx)).await?;
    SockRef::from(io.io()).take_error()?.map_or(Ok(()), Err)
}
