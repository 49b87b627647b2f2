//! Reading a pipe to its end.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use super::pipes::poll_read_into;
use crate::reactor::Evented;

/// A pipe, and what has come out of it. Without a pipe there is nothing to wait for.
#[derive(Debug)]
pub(super) struct Collect {
    pipe: Option<Evented<OwnedFd>>,
    bytes: Vec<u8>,
    ended: bool,
}

/// Room for the next read. Longer outputs make their vector grow by doubling, as usual.
const ROOM: usize = 4096;

impl Collect {
    pub(super) fn new(pipe: Option<Evented<OwnedFd>>) -> Self {
        Collect { ended: pipe.is_none(), pipe, bytes: Vec::new() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Reads what there is; ready at the end of the pipe.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(pipe) = self.pipe.as_ref().filter(|_| !self.ended) {
            self.bytes.reserve(ROOM);
            self.ended = ready!(poll_read_into(pipe, cx, &mut self.bytes))? == 0;
        }
        Poll::Ready(Ok(()))
    }
}
