//! One operation at a time.
//!
//! A file has a cursor, so its operations must not overtake each other, and a task that has stopped waiting for one must not
//! leave the next one a file in an unknown state. So what is under way stays with the file: whoever comes next waits for it
//! first, and takes note of what it came to. While an operation is under way it owns the buffer.

use std::fs::File;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::{io, mem};

use gmp_exec::task::{AtShutdown, JoinHandle};

use super::buffer::Buffer;
use crate::fs::background;

#[derive(Debug, Default)]
pub(super) struct Progress {
    operation: Operation,
    /// A write failed and nobody has been told: the next one who writes or flushes will be.
    write_error: Option<io::Error>,
    /// Where the last seek led to.
    pub(super) position: u64,
    /// Other handles may use the same cursor. The system has a lock for it, which is held for as
    /// long as a read or a write takes, so whatever touches the cursor may block.
    pub(super) shares_cursor: bool,
}

#[derive(Debug)]
enum Operation {
    Idle(Buffer),
    Busy(JoinHandle<(Finished, Buffer)>),
}

/// An operation that is over.
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

    /// The buffer, if nothing is under way.
    pub(super) fn idle(&mut self) -> Option<&mut Buffer> {
        match &mut self.operation {
            Operation::Idle(buffer) => Some(buffer),
            Operation::Busy(_) => None,
        }
    }

    /// The buffer, where nothing can be under way.
    pub(super) fn settled(&mut self) -> &mut Buffer {
        self.idle().expect("what was under way is over")
    }

    /// Begins an operation; nothing else is under way.
    ///
    /// # Panics
    ///
    /// Without a current runtime. The buffer is lost then, so callers assert that there is one before they touch it.
    #[track_caller]
    pub(super) fn start(
        &mut self,
        at_shutdown: AtShutdown,
        file: &Arc<File>,
        operation: impl FnOnce(&File, &mut Buffer) -> Finished + Send + 'static,
    ) {
        let file = file.clone();
        let mut buffer = mem::take(self.settled());
        self.operation =
            Operation::Busy(background::start(at_shutdown, move || (operation(&file, &mut buffer), buffer)));
    }

    /// Waits for what is under way, and says what it came to; `None` if there was nothing.
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

    /// Waits for what is under way. A write that failed is reported now, also one of before.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.take_write_error()?;
        Poll::Ready(match ready!(self.poll_finished(cx))? {
            Some(Finished::Write(outcome)) => outcome,
            _ => Ok(()),
        })
    }

    /// Waits for what is under way, for an operation that is not about writing.
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

    /// The first one says most.
    pub(super) fn keep_write_error(&mut self, error: io::Error) {
        self.write_error.get_or_insert(error);
    }
}
