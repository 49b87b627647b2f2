//! Writing: data is accepted at once and written in the background.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gmp_exec::task::AtShutdown;

use super::File;
use super::buffer::Buffer;
use super::progress::{Finished, go_back};
use crate::fs::inline;
use crate::fs::pending_writes::PendingWrite;
use crate::io::AsyncWrite;

impl AsyncWrite for File {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, src: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_accept(cx, |buffer, most| buffer.append(src, most))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_accept(cx, |buffer, most| buffer.append_all(bufs, most))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Waits until accepted data is with the system, and reports an error of writing it.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.progress.get_mut().poll_flush(cx)
    }

    /// The same as a flush: a file has no direction that could be closed alone.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl File {
    /// Waits for the operation in progress, lets `fill` copy the data, and begins to write it.
    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
        fill: impl FnOnce(&mut Buffer, usize) -> usize,
    ) -> Poll<io::Result<usize>> {
        let progress = self.progress.get_mut();
        progress.take_write_error()?;
        let buffer = loop {
            match ready!(progress.poll_finished(cx))? {
                Some(Finished::Write(outcome)) => outcome?,
                Some(_) => {}
                None => break progress.settled(),
            }
        };
        inline::assert_runtime();
        let ahead = buffer.discard();
        let n = fill(buffer, self.max_buf_size);
        let accepted = self.number.of(&self.std).map(PendingWrite::new);
        progress.start(AtShutdown::Finish, &self.std, ahead, accepted, move |std, buffer| {
            Finished::Write(go_back(std, ahead).and_then(|()| buffer.write_to(std)))
        })?;
        Poll::Ready(Ok(n))
    }
}
