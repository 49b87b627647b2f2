//! Standard output and standard error.
//!
//! A program can ask without blocking whether there is room (`poll(2)`), and if there is, a pipe
//! takes at least `PIPE_BUF` bytes. So the task itself writes, in pieces smaller than that, and
//! only waiting is done on the [thread](super::blocking_thread). A file takes any size, but also
//! gets pieces, and they cost as much of the task's budget as they take time, so that no poll
//! writes for long.
//!
//! Three kinds of output can still block. A terminal reports room as soon as there is some, and a
//! larger write sleeps until it is complete. When another process writes to the same pipe, the room
//! may be gone before the write. And a process that writes to a file faster than the disk is made
//! to wait. The write then waits in a blocking section, so other tasks go on, except on the
//! current-thread flavour, where nothing else runs until there is room.
//!
//! Rejected: writing on the thread as well, because accepted bytes that wait there would be lost at
//! the end of `main`; and pieces of one byte, for which a terminal always has room, because that is
//! a system call per byte.

use std::io::{self, Write};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, ready};

use gmp_exec::bridge::filter_has_come;
use gmp_exec::runtime::Handle;
use gmp_exec::task::{blocking, coop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use super::blocking_thread::BlockingThread;
use crate::budget;
use crate::io::{AsyncWrite, uninterrupted};
use crate::lock::{lock, wake_all};
use crate::reactor::shutdown_error;
use crate::waiting::{Place, Waiting};

/// Makes a handle to standard output.
///
/// # Examples
///
/// ```
/// use gmp_io::io::stdout;
/// use tokio::io::AsyncWriteExt;
///
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// let mut stdout = stdout();
/// stdout.write_all(b"hello\n").await?;
/// stdout.flush().await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub fn stdout() -> Stdout {
    Stdout(Place::default())
}

/// Makes a handle to standard error.
///
/// # Examples
///
/// ```
/// use gmp_io::io::stderr;
/// use tokio::io::AsyncWriteExt;
///
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// stderr().write_all(b"careful\n").await?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub fn stderr() -> Stderr {
    Stderr(Place::default())
}

/// A handle to standard output, from [`stdout`].
///
/// A write that has returned has been carried out, except that the standard library buffers the
/// rest of a line, which the end of the process flushes. Dropping a write that waits for room
/// writes nothing.
///
/// Writes of several tasks may be interleaved: a long write is made in pieces.
///
/// A write waits without blocking a thread, with three exceptions: a terminal with less room than
/// the piece is long, for example because it was stopped with Ctrl-S; a pipe that another process
/// has filled in the meantime; and a file whose disk is too slow. Such a write blocks the thread
/// until there is room. On the multi-thread flavour other tasks go on; on the current-thread
/// flavour they wait.
#[derive(Debug)]
pub struct Stdout(Place);

/// A handle to standard error, from [`stderr`]. It blocks in the same cases as [`Stdout`]. Nothing
/// is buffered.
#[derive(Debug)]
pub struct Stderr(Place);

macro_rules! output_stream {
    ($type:ty, $output:ident, $thread:literal, $std:path, $fd:path) => {
        static $output: SharedOutput = SharedOutput::new($thread);

        impl AsyncWrite for $type {
            /// # Errors
            ///
            /// The error of the system call; there is no room and the thread that waits for room
            /// can't be started; or the runtime is being shut down.
            ///
            /// # Panics
            ///
            /// If called outside of a runtime, as on tokio: a program should not fail only when it
            /// is moved back to tokio.
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                let write = || $std().write(&buf[..piece($fd(), buf.len())]);
                let n = ready!($output.poll_io(&mut self.get_mut().0, cx, $fd, write))?;
                budget::spend(cx, n / BYTES_PER_UNIT);
                Poll::Ready(Ok(n))
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                $output.poll_io(&mut self.get_mut().0, cx, $fd, || $std().flush())
            }

            /// Flushes. The stream stays open for other handles.
            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }

        impl Drop for $type {
            fn drop(&mut self) {
                $output.leave(&mut self.0);
            }
        }

        impl AsFd for $type {
            fn as_fd(&self) -> BorrowedFd<'_> {
                $fd()
            }
        }

        impl AsRawFd for $type {
            fn as_raw_fd(&self) -> RawFd {
                $fd().as_raw_fd()
            }
        }
    };
}

output_stream! { Stdout, STDOUT, "gmp-stdout", io::stdout, rustix::stdio::stdout }
output_stream! { Stderr, STDERR, "gmp-stderr", io::stderr, rustix::stdio::stderr }

/// Less than `PIPE_BUF` (4096), even with the kilobyte that the standard library may hold back for
/// the rest of a line.
const SMALL: usize = 2048;

/// The most that is written to a file at once. A longer line may be interleaved with those of other
/// writers.
const LARGE: usize = 64 * 1024;

/// The bytes written to a file for a unit of the budget, about 10 µs' worth. A task's 128 units are
/// 2 MiB per poll.
const BYTES_PER_UNIT: usize = 16 * 1024;

/// How many of `len` bytes to write at once.
fn piece(fd: BorrowedFd<'_>, len: usize) -> usize {
    let is_file = || fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    let most = if len > SMALL && !filter_has_come() && is_file() { LARGE } else { SMALL };
    len.min(most)
}

/// A standard stream and the tasks that wait for room in it.
#[derive(Debug)]
struct SharedOutput {
    thread: BlockingThread,
    waiters: Mutex<RoomWaiters>,
}

#[derive(Debug)]
struct RoomWaiters {
    /// Whether the thread waits for room.
    watched: bool,
    waiting: Waiting,
}

impl SharedOutput {
    const fn new(thread: &'static str) -> Self {
        SharedOutput {
            thread: BlockingThread::new(thread),
            waiters: Mutex::new(RoomWaiters { watched: false, waiting: Waiting::new() }),
        }
    }

    /// Runs `operation` once there is room. Repeats one that a signal has interrupted.
    fn poll_io<R>(
        &'static self,
        place: &mut Place,
        cx: &mut Context<'_>,
        fd: fn() -> BorrowedFd<'static>,
        operation: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let coop = ready!(coop::poll_proceed(cx));
        if Handle::current().is_shut_down() {
            // Costs a unit, as on tokio, so that a task that goes on after errors comes to the end
            // of its poll.
            coop.made_progress();
            return Poll::Ready(Err(shutdown_error()));
        }
        if !has_room(fd(), Some(&NOW)) {
            return match self.wait(place, cx, fd) {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            };
        }
        coop.made_progress();
        Poll::Ready(blocking(|| uninterrupted(operation)))
    }

    /// Stores the task's waker, and makes the thread watch for room. There is no need to look again
    /// afterwards: the thread looks at the stream itself, so room that appears in between is not
    /// missed.
    fn wait(&'static self, place: &mut Place, cx: &Context<'_>, fd: fn() -> BorrowedFd<'static>) -> io::Result<()> {
        let waker = cx.waker().clone();
        let mut waiters = lock(&self.waiters);
        let unneeded = waiters.waiting.join(place, waker);
        let is_watched = mem::replace(&mut waiters.watched, true);
        drop(waiters);
        drop(unneeded);
        if is_watched {
            return Ok(());
        }
        let started = self.thread.run(move || {
            has_room(fd(), None);
            self.wake();
        });
        if started.is_err() {
            // Other tasks that wait by now poll again and get the same error.
            self.wake();
        }
        started
    }

    fn wake(&self) {
        let mut waiters = lock(&self.waiters);
        waiters.watched = false;
        let mut woken = Vec::new();
        waiters.waiting.take_all(&mut woken);
        drop(waiters);
        wake_all(&mut woken);
    }

    /// A handle is dropped.
    fn leave(&self, place: &mut Place) {
        if !place.is_unused() {
            let unneeded = lock(&self.waiters).waiting.leave(place);
            drop(unneeded);
        }
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Waits until a write would return at once, with progress or an error, and returns whether it
/// would. Waits until `timeout`, or without limit. If the question fails, the write is tried and
/// returns the error, and so it is once a filter of system calls has come, which may not know `poll`.
fn has_room(fd: BorrowedFd<'_>, timeout: Option<&Timespec>) -> bool {
    if filter_has_come() {
        return true;
    }
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::OUT)], timeout) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) => return false,
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::{Arc, OnceLock};
    use std::task::{Wake, Waker};

    use gmp_exec::runtime::Runtime;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// As if the thread were waiting, so that it is not started.
    static OUTPUT: SharedOutput = SharedOutput {
        thread: BlockingThread::new("unused"),
        waiters: Mutex::new(RoomWaiters { watched: true, waiting: Waiting::new() }),
    };

    #[test]
    fn a_handle_that_waits_keeps_the_waker_of_one_task() {
        let tasks: Vec<Arc<Count>> = (0..100).map(|_| Arc::default()).collect();
        let mut handles = [Place::default(), Place::default()];
        for task in &tasks {
            for handle in &mut handles {
                let waker = task.clone().into();
                OUTPUT.wait(handle, &Context::from_waker(&waker), rustix::stdio::stdout).expect("the thread watches");
            }
        }
        assert_eq!(lock(&OUTPUT.waiters).waiting.places(), handles.len());
        assert_eq!(tasks.iter().map(Arc::strong_count).sum::<usize>(), tasks.len() + handles.len());
        OUTPUT.leave(&mut handles[0]);
        OUTPUT.wake();
        assert_eq!(tasks[99].0.load(SeqCst), 1);
        OUTPUT.leave(&mut handles[1]);
        assert_eq!(lock(&OUTPUT.waiters).waiting.places(), 0);
    }

    fn null() -> BorrowedFd<'static> {
        static NULL: OnceLock<File> = OnceLock::new();
        NULL.get_or_init(|| File::options().write(true).open("/dev/null").expect("opened")).as_fd()
    }

    #[test]
    fn an_operation_that_a_signal_interrupts_is_repeated() {
        static NULL_OUTPUT: SharedOutput = SharedOutput::new("unused");
        let runtime = Runtime::new().expect("a runtime");
        let _current = runtime.enter();
        let mut outcomes = [Err(io::ErrorKind::Interrupted.into()), Ok(7)].into_iter();
        let cx = &mut Context::from_waker(Waker::noop());
        let operation = || outcomes.next().expect("it is repeated once");
        let polled = NULL_OUTPUT.poll_io(&mut Place::default(), cx, null, operation);
        assert!(matches!(polled, Poll::Ready(Ok(7))));
    }
}
