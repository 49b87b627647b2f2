//! Reading: first from the buffer, then from memory, then in the background.

use std::cmp::min;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fs, io};

use gmp_exec::bridge::filter_has_come;
use gmp_exec::task::{AtShutdown, coop};

use super::File;
use super::progress::{Finished, go_back};
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
                    ready!(poll_written(cx, &mut progress.read_began, || me.number.of(&me.std)));
                    if ready!(poll_read_in_place(cx, &me.std, &mut me.reads, dst, most))? == InPlace::Complete {
                        return Poll::Ready(Ok(()));
                    }
                    progress.start(AtShutdown::Abandon, &me.std, 0, None, move |std, buffer| {
                        Finished::Read(buffer.read_from(std, most))
                    })?;
                }
            }
        }
    }
}

/// Reads up to `most` bytes on the calling thread. If that was incomplete, nothing was read: the
/// read in the background may never begin, and has the bytes again if it does.
///
/// A read of a regular file returns as many bytes as the file has: programs rely on it. So if only
/// a part is cached, the rest must be waited for. Other files have boundaries between writes, and
/// one call is one read.
fn poll_read_in_place(
    cx: &mut Context<'_>,
    std: &fs::File,
    reads: &mut Reads,
    dst: &mut ReadBuf<'_>,
    most: usize,
) -> Poll<io::Result<InPlace>> {
    inline::assert_runtime();
    if reads.in_background || filter_has_come() {
        return Poll::Ready(Ok(InPlace::Incomplete));
    }
    let unit = ready!(coop::poll_proceed(cx));
    let room = dst.initialize_unfilled_to(most);
    let (n, outcome) = reads.fill(std, room);
    if outcome == InPlace::Incomplete {
        // No buffer is longer than `i64::MAX`.
        return Poll::Ready(go_back(std, n as i64).map(|()| outcome));
    }
    dst.advance(n);
    unit.made_progress();
    inline::charge(cx, n);
    Poll::Ready(Ok(InPlace::Complete))
}

/// Waits for writes through other handles that were accepted before the read began. If the wait is
/// abandoned and the next operation is a read, too, that still only waits for the writes from before the
/// first one began, as on tokio, where the next read gets the result of the first.
fn poll_written(
    cx: &mut Context<'_>,
    read_began: &mut Option<Cutoff>,
    file: impl FnOnce() -> Option<Identity>,
) -> Poll<()> {
    let Some(began) = read_began.or_else(Cutoff::now) else { return Poll::Ready(()) };
    if let Some(file) = file() {
        *read_began = Some(began);
        ready!(began.poll_written(file, cx));
        *read_began = None;
    }
    Poll::Ready(())
}

impl Reads {
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

#[cfg(all(test, any(target_os = "linux", target_os = "android"), not(gmp_portable)))]
mod tests {
    use std::future::poll_fn;
    use std::io::SeekFrom;
    use std::task::Waker;

    use gmp_exec::runtime::Runtime;

    use super::*;
    use crate::fs::pending_writes::PendingWrite;
    use crate::io::AsyncSeek;

    #[test]
    fn a_read_after_a_seek_waits_for_what_was_written_since_an_abandoned_read() {
        let runtime = Runtime::new().expect("a runtime");
        let _current = runtime.enter();
        let mut file = File::just_opened(tempfile::tempfile().expect("a file"));
        let identity = file.number.of(&file.std).expect("a regular file");
        let reads = |file: &mut File| {
            let mut buf = [0; 8];
            let cx = &mut Context::from_waker(Waker::noop());
            Pin::new(file).poll_read(cx, &mut ReadBuf::new(&mut buf)).is_ready()
        };
        let first = PendingWrite::new(identity);
        assert!(!reads(&mut file));
        drop(first);
        Pin::new(&mut file).start_seek(SeekFrom::Start(0)).expect("sought");
        let second = PendingWrite::new(identity);
        assert!(!reads(&mut file), "the second write was accepted before this read began");
        drop(second);
        let end = runtime.block_on(poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut ReadBuf::new(&mut [0; 8]))));
        end.expect("read");
    }
}
