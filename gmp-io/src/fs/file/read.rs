//! Reading: first from the buffer, then from memory, then in the background.

use std::cmp::min;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fs, io};

use gmp_exec::bridge::filter_has_come;
use gmp_exec::task::{AtShutdown, coop};

use super::File;
use super::buffer::Buffer;
use super::progress::Finished;
use crate::fs::inline;
use crate::fs::pending_writes::Cutoff;
use crate::io::{AsyncRead, ReadBuf};
use crate::sys::{Identity, file};

/// The known facts about reading this file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// The file can't be read on the calling thread: its kind, or the kernel, only supports reads
    /// that block, or other handles share its cursor.
    in_background: bool,
    is_regular: Option<bool>,
    /// When the read in progress began. It waits for writes accepted before that through other
    /// handles.
    began: Option<Cutoff>,
}

/// The outcome of a read on the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InPlace {
    /// A read that may block would not have returned more.
    Complete,
    /// The rest has to be read in the background.
    Incomplete,
}

impl AsyncRead for File {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, dst: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let me = self.get_mut();
        let progress = me.progress.get_mut();
        loop {
            match ready!(progress.poll_finished(cx))? {
                Some(Finished::Read(outcome)) => {
                    progress.settled().move_into(dst);
                    return Poll::Ready(outcome);
                }
                Some(Finished::Write(Err(error))) => progress.keep_write_error(error),
                Some(_) => {}
                None => {
                    if !progress.settled().is_empty() || dst.remaining() == 0 {
                        progress.settled().move_into(dst);
                        return Poll::Ready(Ok(()));
                    }
                    let most = min(dst.remaining(), me.max_buf_size);
                    me.reads.in_background |= progress.shares_cursor;
                    ready!(me.reads.poll_written(cx, || me.number.of(&me.std)));
                    let buffer = progress.settled();
                    let outcome = ready!(poll_read_in_place(cx, &me.std, &mut me.reads, buffer, dst, most));
                    if outcome == InPlace::Complete {
                        return Poll::Ready(Ok(()));
                    }
                    progress.start(AtShutdown::Abandon, &me.std, move |std, buffer| read(std, buffer, most))?;
                }
            }
        }
    }
}

/// If bytes were read on the calling thread before, an error that follows is not returned with
/// them: the next read gets it again.
fn read(std: &fs::File, buffer: &mut Buffer, most: usize) -> Finished {
    let outcome = buffer.read_from(std, most);
    Finished::Read(if buffer.is_empty() { outcome } else { Ok(()) })
}

/// Reads up to `most` bytes on the calling thread. If that was incomplete, the bytes are in
/// `buffer`.
///
/// A read of a regular file returns as many bytes as the file has: programs rely on it. So if only
/// a part is cached, the rest must be waited for. Other files have boundaries between writes, and
/// one call is one read.
fn poll_read_in_place(
    cx: &mut Context<'_>,
    std: &fs::File,
    reads: &mut Reads,
    buffer: &mut Buffer,
    dst: &mut ReadBuf<'_>,
    most: usize,
) -> Poll<InPlace> {
    inline::assert_runtime();
    if reads.in_background || filter_has_come() {
        return Poll::Ready(InPlace::Incomplete);
    }
    let unit = ready!(coop::poll_proceed(cx));
    let room = dst.initialize_unfilled_to(most);
    let (n, outcome) = reads.fill(std, room);
    if outcome == InPlace::Incomplete {
        buffer.append(&room[..n], most);
        return Poll::Ready(InPlace::Incomplete);
    }
    dst.advance(n);
    unit.made_progress();
    inline::charge(cx, n);
    Poll::Ready(InPlace::Complete)
}

impl Reads {
    /// If the wait is abandoned and the read begins again later, it still only waits for the writes
    /// from before it first began.
    fn poll_written(&mut self, cx: &mut Context<'_>, file: impl FnOnce() -> Option<Identity>) -> Poll<()> {
        let Some(began) = self.began.or_else(Cutoff::now) else { return Poll::Ready(()) };
        if let Some(file) = file() {
            self.began = Some(began);
            ready!(began.poll_written(file, cx));
            self.began = None;
        }
        Poll::Ready(())
    }

    /// Fills `room` from memory.
    fn fill(&mut self, std: &fs::File, room: &mut [u8]) -> (usize, InPlace) {
        let mut filled = 0;
        loop {
            match file::read(std, &mut room[filled..]) {
                Ok(0) => return (filled, InPlace::Complete),
                Ok(n) => filled += n,
                Err(error) => {
                    self.in_background |= error.kind() == io::ErrorKind::Unsupported;
                    return (filled, InPlace::Incomplete);
                }
            }
            if filled == room.len() || !self.is_regular(std) {
                return (filled, InPlace::Complete);
            }
        }
    }

    fn is_regular(&mut self, std: &fs::File) -> bool {
        let ask = || std.metadata().is_ok_and(|metadata| metadata.is_file());
        *self.is_regular.get_or_insert_with(ask)
    }
}
