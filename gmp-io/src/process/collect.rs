//! Reading a pipe to its end.

use std::io;
use std::task::{Context, Poll, ready};

use crate::net::unix::pipe::Receiver;

/// A pipe, and the bytes that were read from it. Without a pipe there is nothing to wait for.
#[derive(Debug)]
pub(super) struct Collect {
    pipe: Option<Receiver>,
    bytes: Vec<u8>,
    ended: bool,
}

/// Room for the next read. For long outputs the vector grows by doubling, as usual.
const ROOM: usize = 4096;

impl Collect {
    pub(super) fn new(pipe: Option<Receiver>) -> Self {
        Collect { ended: pipe.is_none(), pipe, bytes: Vec::new() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Reads all there is. Ready at the end of the pipe, which stays open.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(pipe) = self.pipe.as_ref().filter(|_| !self.ended) {
            ready!(pipe.poll_read_ready(cx))?;
            self.bytes.reserve(ROOM);
            match pipe.try_read_buf(&mut self.bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => self.ended = result? == 0,
            }
        }
        Poll::Ready(Ok(()))
    }
}
