//! Reading: what is in the buffer, what is in memory, what has to be waited for, in this order.

use std::cmp::min;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fs, io};

use gmp_exec::task::{AtShutdown, coop};

use super::File;
use super::buffer::Buffer;
use super::progress::Finished;
use crate::fs::inline;
use crate::fs::pending_writes::Cutoff;
use crate::io::{AsyncRead, ReadBuf};
use crate::sys::{Identity, file};

/// What has been learnt about how to read this file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// It can't be read in place: this kind of file, or the kernel, knows no other way than to
    /// block, or others use its cursor.
    in_background: bool,
    is_regular: Option<bool>,
    /// The read under way began here, and waits for what was written before through other handles.
    began: Option<Cutoff>,
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
                    if ready!(poll_read_in_place(cx, &me.std, &mut me.reads, progress.settled(), dst, most)) {
                        return Poll::Ready(Ok(()));
                    }
                    progress.start(AtShutdown::Abandon, &me.std, move |std, buffer| read(std, buffer, most));
                }
            }
        }
    }
}

/// What has been read in place before is reported without an error that came after it: the next read meets it again.
fn read(std: &fs::File, buffer: &mut Buffer, most: usize) -> Finished {
    let outcome = buffer.read_from(std, most);
    Finished::Read(if buffer.is_empty() { outcome } else { Ok(()) })
}

/// Reads up to `most` bytes, and says whether that was all there is to do. Otherwise what was read is in `buffer`.
///
/// A regular file gives as many bytes as it has, whoever reads it: programs rely on it. So if only a part is in memory, the
/// rest must be waited for. Other files have boundaries between what was written to them, and one call is one read.
fn poll_read_in_place(
    cx: &mut Context<'_>,
    std: &fs::File,
    reads: &mut Reads,
    buffer: &mut Buffer,
    dst: &mut ReadBuf<'_>,
    most: usize,
) -> Poll<bool> {
    inline::assert_runtime();
    if reads.in_background {
        return Poll::Ready(false);
    }
    let unit = ready!(coop::poll_proceed(cx));
    let room = dst.initialize_unfilled_to(most);
    let (n, is_complete) = reads.fill(std, room);
    if !is_complete {
        buffer.append(&room[..n], most);
        return Poll::Ready(false);
    }
    dst.advance(n);
    unit.made_progress();
    inline::charge(cx, n);
    Poll::Ready(true)
}

impl Reads {
    /// A read that is given up here and begun again later waits for what was written before the
    /// first one only.
    fn poll_written(&mut self, cx: &mut Context<'_>, file: impl FnOnce() -> Option<Identity>) -> Poll<()> {
        let Some(began) = self.began.or_else(Cutoff::now) else { return Poll::Ready(()) };
        if let Some(file) = file() {
            self.began = Some(began);
            ready!(began.poll_written(file, cx));
            self.began = None;
        }
        Poll::Ready(())
    }

    /// Fills `room` from memory. Says how far it got, and whether a read that may block would not have got further.
    fn fill(&mut self, std: &fs::File, room: &mut [u8]) -> (usize, bool) {
        let mut filled = 0;
        loop {
            match file::read(std, &mut room[filled..]) {
                Ok(0) => return (filled, true),
                Ok(n) => filled += n,
                Err(error) => {
                    self.in_background |= error.kind() == io::ErrorKind::Unsupported;
                    return (filled, false);
                }
            }
            if filled == room.len() || !self.is_regular(std) {
                return (filled, true);
            }
        }
    }

    fn is_regular(&mut self, std: &fs::File) -> bool {
        let ask = || std.metadata().is_ok_and(|metadata| metadata.is_file());
        *self.is_regular.get_or_insert_with(ask)
    }
}
