//! One operation at a time, and the result of the previous one.
//!
//! A file has a cursor, so operations must not overtake each other, and a task that stops waiting
//! for one must not leave the file in an unknown state for the next. So an operation in progress
//! stays with the file: the next operation waits for it first, and takes its result into account.
//! While an operation is in progress it owns the buffer.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gmp_exec::task::{AtShutdown, JoinHandle};

use super::buffer::Buffer;
use crate::fs::background;
use crate::fs::pending_writes::{Cutoff, PendingWrite};

#[derive(Debug, Default)]
pub(super) struct Progress {
    operation: Operation,
    /// The error of a write that has not been reported. The next write or flush reports it.
    write_error: Option<io::Error>,
    /// The position after the last seek.
    pub(super) position: u64,
    /// When the read that waits for writes through other handles began. Another operation ends this wait,
    /// if the read was abandoned: a read that follows the other operation begins anew.
    pub(super) read_began: Option<Cutoff>,
    /// Whether other handles may share the cursor. The system locks the cursor during a read or
    /// write, so any use of it may block.
    pub(super) shares_cursor: bool,
}

#[derive(Debug)]
enum Operation {
    Idle(Buffer),
    Busy(JoinHandle<(Finished, Buffer)>),
}

/// The result of an operation.
#[derive(Debug)]
pub(super) enum Finished {
    Read(io::Result<()>),
    Write(io::Result<()>),
    Seek(io::Result<u64>),
    SetLen(io::Result<()>),
}

impl Default for Operation {
    fn default() -> Self {
        Operation::Idle(Buffer::default())
    }
}

impl Progress {
    pub(super) fn with_shared_cursor() -> Self {
        Progress { shares_cursor: true, ..Progress::default() }
    }

    /// The buffer, if no operation is in progress.
    pub(super) fn idle(&mut self) -> Option<&mut Buffer> {
        match &mut self.operation {
            Operation::Idle(buffer) => Some(buffer),
            Operation::Busy(_) => None,
        }
    }

    /// The buffer, when no operation can be in progress.
    pub(super) fn settled(&mut self) -> &mut Buffer {
        self.idle().expect("no operation is in progress")
    }

    /// Begins an operation. No other may be in progress. The caller has discarded `ahead` bytes of
    /// the buffer. `accepted`: the write that others wait for. They may be about to start the file as a
    /// program, which the system refuses while a descriptor is open for writing. So the write counts until
    /// this descriptor is closed, if the caller has dropped the file meanwhile.
    ///
    /// # Errors
    ///
    /// The system can't start a thread that the operation needs. The buffer is empty then, and the
    /// next read gets the discarded bytes from the file.
    ///
    /// # Panics
    ///
    /// If called outside of a runtime. The buffer is lost then, so callers check for a runtime
    /// before they use it.
    #[track_caller]
    pub(super) fn start(
        &mut self,
        at_shutdown: AtShutdown,
        file: &Arc<File>,
        ahead: i64,
        accepted: Option<PendingWrite>,
        operation: impl FnOnce(&File, &mut Buffer) -> Finished + Send + 'static,
    ) -> io::Result<()> {
        self.read_began = None;
        let for_operation = file.clone();
        let mut buffer = mem::take(self.settled());
        let operation = move || {
            let finished = operation(&for_operation, &mut buffer);
            drop(for_operation);
            drop(accepted);
            (finished, buffer)
        };
        self.operation = match background::start(at_shutdown, operation) {
            Ok(started) => Operation::Busy(started),
            Err(error) => return go_back(file, ahead).and(Err(error)),
        };
        Ok(())
    }

    /// Waits for the operation in progress and returns its result. `None` if there was none.
    ///
    /// # Errors
    ///
    /// The runtime has ended before the operation.
    pub(super) fn poll_finished(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Finished>>> {
        let Operation::Busy(operation) = &mut self.operation else { return Poll::Ready(Ok(None)) };
        let outcome = ready!(Pin::new(operation).poll(cx));
        self.operation = Operation::default();
        let (finished, buffer) = outcome.map_err(background::failed)?;
        self.operation = Operation::Idle(buffer);
        if let Finished::Seek(Ok(position)) = finished {
            self.position = position;
        }
        Poll::Ready(Ok(Some(finished)))
    }

    /// Waits for the operation in progress. Reports the error of a write, including an earlier one.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.take_write_error()?;
        Poll::Ready(match ready!(self.poll_finished(cx))? {
            Some(Finished::Write(outcome)) => outcome,
            _ => Ok(()),
        })
    }

    /// Waits for the operation in progress, on behalf of an operation that does not report errors
    /// of writes.
    pub(super) fn poll_settle(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.poll_finished(cx)) {
            Ok(Some(Finished::Write(Err(error)))) | Err(error) => self.keep_write_error(error),
            Ok(_) => {}
        }
        Poll::Ready(())
    }

    pub(super) fn take_write_error(&mut self) -> io::Result<()> {
        self.write_error.take().map_or(Ok(()), Err)
    }

    /// Keeps the first error, which says most.
    pub(super) fn keep_write_error(&mut self, error: io::Error) {
        self.write_error.get_or_insert(error);
    }
}

/// Moves the system's cursor back to the reader's.
pub(super) fn go_back(mut file: &File, ahead: i64) -> io::Result<()> {
    if ahead == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::Current(-ahead)).map(drop)
}
