//! Moving the cursor.
//!
//! The system's cursor is ahead of the reader's by the bytes in the buffer. A seek discards the
//! buffer, and a seek relative to the cursor is corrected by their number.
//!
//! Seeking to a known position only changes a number, so it is done at once. Only the end of a file
//! may have to be asked for, and a shared cursor waited for.

use std::fs;
use std::io::{self, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gmp_exec::task::AtShutdown;

use super::File;
use super::progress::{Finished, go_back};
use crate::fs::inline;
use crate::io::AsyncSeek;

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let me = self.get_mut();
        let progress = me.progress.get_mut();
        let Some(buffer) = progress.idle() else {
            return Err(io::Error::other("other file operation is pending, call poll_complete before start_seek"));
        };
        inline::assert_runtime();
        let ahead = buffer.discard();
        progress.read_began = None;
        if progress.shares_cursor || matches!(position, SeekFrom::End(_)) {
            let operation = move |std: &_, _: &mut _| Finished::Seek(seek(std, position, ahead));
            progress.start(AtShutdown::Wait, &me.std, ahead, None, operation)?;
        } else {
            progress.position = seek(&me.std, position, ahead)?;
        }
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let progress = self.progress.get_mut();
        loop {
            match ready!(progress.poll_finished(cx))? {
                Some(Finished::Seek(outcome)) => return Poll::Ready(outcome),
                Some(Finished::Write(Err(error))) => progress.keep_write_error(error),
                Some(_) => {}
                None => return Poll::Ready(Ok(progress.position)),
            }
        }
    }
}

fn seek(mut std: &fs::File, position: SeekFrom, ahead: i64) -> io::Result<u64> {
    let SeekFrom::Current(offset) = position else { return std.seek(position) };
    match offset.checked_sub(ahead) {
        Some(offset) => std.seek(SeekFrom::Current(offset)),
        None => go_back(std, ahead).and_then(|()| std.seek(position)),
    }
}
