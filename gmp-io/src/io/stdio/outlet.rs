//! Standard output and standard error.
//!
//! Whether there is room can be asked without blocking (`poll(2)`), and where it says yes a pipe
//! takes `PIPE_BUF` bytes at least. So the task itself writes, in pieces of less than that, and
//! only the waiting is the lane's. A file takes any size, but gets pieces too, and they cost of the
//! task's budget what they take, so that no poll writes for long.
//!
//! Three outlets don't keep to that. A terminal reports room as soon as there is some, and a write
//! of more then sleeps until all of it is in; where another process writes to the same pipe, what
//! was room at the look may be gone at the write; and who writes to a file faster than its disk
//! does is made to wait. The write then waits in a blocking section, where the other tasks go on,
//! except on the current-thread flavour: there nothing else runs until there is room.
//!
//! Rejected: writes on the lane as well, because what was accepted and then waits there is lost with the end of `main`; and
//! pieces of one byte, for which a terminal would have room, because that is a system call a byte.

use std::io::{self, Write};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker, ready};

use gmp_exec::runtime::Handle;
use gmp_exec::task::{blocking, coop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use super::lane::Lane;
use crate::budget;
use crate::io::AsyncWrite;
use crate::lock::{join_once, lock, wake_all};
use crate::reactor::shutdown_error;

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
    Stdout(())
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
    Stderr(())
}

/// A handle to standard output, from [`stdout`].
///
/// A write that has returned has been made, up to the standard library's own buffer for the rest of a line, which the
/// end of the process flushes. Dropping a write that waits for room writes nothing.
///
/// Writes of several tasks may be mixed: a long one is made in pieces.
///
/// A write waits without holding up a thread, with three exceptions: a terminal that has less room
/// than the piece is long, because it has been stopped (Ctrl-S), say, a pipe that another process
/// has filled in the meantime, and a file whose disk can't keep up. Then it blocks the thread until
/// there is room. On the multi-thread flavour the other tasks go on all the same; on the
/// current-thread flavour they wait as well.
#[derive(Debug)]
pub struct Stdout(());

/// A handle to standard error, from [`stderr`]. See [`Stdout`], also for when it blocks; nothing is buffered here.
#[derive(Debug)]
pub struct Stderr(());

macro_rules! outlet {
    ($type:ty, $outlet:ident, $thread:literal, $std:path, $fd:path) => {
        static $outlet: Outlet = Outlet::new($thread);

        impl AsyncWrite for $type {
            /// # Errors
            ///
            /// The system's; also when there is no room and the thread that waits for it can't be started, or the runtime is
            /// being shut down.
            ///
            /// # Panics
            ///
            /// Outside of a runtime, as tokio's: a program that is moved back must not find out only then.
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                let n = ready!($outlet.poll_io(cx, $fd, || $std().write(&buf[..piece($fd(), buf.len())])))?;
                budget::spend(cx, n / BYTES_PER_UNIT);
                Poll::Ready(Ok(n))
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                $outlet.poll_io(cx, $fd, || $std().flush())
            }

            /// Flushes. The stream stays open for others.
            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
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

outlet! { Stdout, STDOUT, "gmp-stdout", io::stdout, rustix::stdio::stdout }
outlet! { Stderr, STDERR, "gmp-stderr", io::stderr, rustix::stdio::stderr }

/// With the kilobyte that the standard library may hold back for the rest of a line, less than `PIPE_BUF` (4096).
const SMALL: usize = 2048;

/// The most that is written to a file at once. A line that is longer may be mixed with those of
/// others.
const LARGE: usize = 64 * 1024;

/// As much as is written to a file for a unit of the budget, some 10 µs' worth. With the 128 units
/// of a task that is 2 MiB in a poll.
const BYTES_PER_UNIT: usize = 16 * 1024;

/// How much of a write of `len` bytes to make at once.
fn piece(fd: BorrowedFd<'_>, len: usize) -> usize {
    let is_file = || fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    let most = if len > SMALL && is_file() { LARGE } else { SMALL };
    len.min(most)
}

/// Who waits for room in one stream.
#[derive(Debug)]
struct Outlet {
    lane: Lane,
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    /// The lane is waiting for room.
    watched: bool,
    waiting: Vec<Waker>,
}

impl Outlet {
    const fn new(thread: &'static str) -> Self {
        Outlet { lane: Lane::new(thread), line: Mutex::new(Line { watched: false, waiting: Vec::new() }) }
    }

    /// Runs `operation` once there is room.
    fn poll_io<R>(
        &'static self,
        cx: &mut Context<'_>,
        fd: fn() -> BorrowedFd<'static>,
        operation: impl FnOnce() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let coop = ready!(coop::poll_proceed(cx));
        if Handle::current().is_shut_down() {
            // Costs a unit, as on tokio: a task that goes on after errors must come to the end of its poll.
            coop.made_progress();
            return Poll::Ready(Err(shutdown_error()));
        }
        if !has_room(fd(), Some(&NOW)) {
            return match self.wait(cx, fd) {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            };
        }
        coop.made_progress();
        Poll::Ready(blocking(operation))
    }

    /// Leaves the task's waker, and sees to it that somebody watches. No look afterwards is needed: who watches looks
    /// at the stream itself, which can't have been emptied unseen.
    fn wait(&'static self, cx: &Context<'_>, fd: fn() -> BorrowedFd<'static>) -> io::Result<()> {
        let waker = cx.waker().clone();
        let mut line = lock(&self.line);
        let unneeded = join_once(&mut line.waiting, waker);
        let is_watched = mem::replace(&mut line.watched, true);
        drop(line);
        drop(unneeded);
        if is_watched {
            return Ok(());
        }
        let started = self.lane.run(move || {
            has_room(fd(), None);
            self.wake();
        });
        if started.is_err() {
            // The others who wait by now ask themselves, and are told the same.
            self.wake();
        }
        started
    }

    fn wake(&self) {
        let mut line = lock(&self.line);
        line.watched = false;
        let mut waiting = mem::take(&mut line.waiting);
        drop(line);
        wake_all(&mut waiting);
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Whether a write would find room, or an error, at once; asked until `timeout`, or for as long as it takes. What can't be
/// asked about is written to, and says itself what is wrong.
fn has_room(fd: BorrowedFd<'_>, timeout: Option<&Timespec>) -> bool {
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
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    struct Sleeper;

    impl Wake for Sleeper {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_task_that_asks_again_and_again_waits_once() {
        static OUTLET: Outlet = Outlet::new("unused");
        // As if the lane were waiting, so that it is not asked to.
        lock(&OUTLET.line).watched = true;
        let wakers: [Waker; 2] = [Arc::new(Sleeper).into(), Arc::new(Sleeper).into()];
        for _ in 0..100 {
            for waker in &wakers {
                OUTLET.wait(&Context::from_waker(waker), rustix::stdio::stdout).expect("somebody watches");
            }
        }
        assert_eq!(lock(&OUTLET.line).waiting.len(), wakers.len());
        OUTLET.wake();
        assert!(lock(&OUTLET.line).waiting.is_empty());
    }
}
