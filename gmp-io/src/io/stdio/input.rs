//! Standard input.
//!
//! A blocking read can't be cancelled with the task that wanted it. The bytes it returns must not
//! be lost, so they belong to the process, not to a handle: one read is in progress at a time, and
//! the next task that reads gets its bytes.

use std::io::{self, Read};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker, ready};

use gmp_exec::task::coop;

use super::blocking_thread::BlockingThread;
use crate::io::{AsyncRead, ReadBuf, uninterrupted};
use crate::lock::{lock, wake_all};
use crate::waiting::{Place, Waiting};

/// A handle to standard input, from [`stdin`].
///
/// All handles read from the same input. A read that is cancelled loses nothing: the next one gets
/// its bytes.
///
/// Neither the end of a runtime nor a [paused clock](gmp_exec::time::pause) waits for a read. Still, a
/// program that reads line by line from its user is simpler with a dedicated thread and
/// `std::io::stdin`.
#[derive(Debug)]
pub struct Stdin(Place);

/// Makes a handle to standard input.
///
/// # Examples
///
/// ```
/// use gmp_io::io::stdin;
/// use tokio::io::{AsyncBufReadExt, BufReader};
///
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # let _ = async {
/// let mut lines = BufReader::new(stdin()).lines();
/// while let Some(line) = lines.next_line().await? {
///     println!("you said {line}");
/// }
/// # std::io::Result::Ok(())
/// # };
/// # });
/// # std::io::Result::Ok(())
/// ```
pub fn stdin() -> Stdin {
    Stdin(Place::default())
}

impl AsyncRead for Stdin {
    /// # Errors
    ///
    /// The error of the system call, or the reading thread can't be started.
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let coop = ready!(coop::poll_proceed(cx));
        let waker = cx.waker().clone();
        let step = lock(&INPUT.state).step(&mut self.get_mut().0, waker, buf);
        let result = match step {
            Step::Done(result) => result,
            Step::Wait(unneeded) => {
                drop(unneeded);
                return Poll::Pending;
            }
            Step::StartRead(unneeded) => {
                drop(unneeded);
                match start_reading(buf.remaining()) {
                    Ok(()) => return Poll::Pending,
                    Err(error) => Err(error),
                }
            }
        };
        coop.made_progress();
        Poll::Ready(result)
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        if !self.0.is_unused() {
            let unneeded = lock(&INPUT.state).waiting.leave(&mut self.0);
            drop(unneeded);
        }
    }
}

impl AsFd for Stdin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        rustix::stdio::stdin()
    }
}

impl AsRawFd for Stdin {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// The state that all handles share.
static INPUT: SharedInput = SharedInput {
    thread: BlockingThread::new("gmp-stdin"),
    state: Mutex::new(InputState { input: Input::Empty, waiting: Waiting::new() }),
};

/// The most that is read at once. A caller never gets more than it asked for.
const MOST: usize = 64 * 1024;

#[derive(Debug)]
struct SharedInput {
    thread: BlockingThread,
    state: Mutex<InputState>,
}

#[derive(Debug)]
struct InputState {
    input: Input,
    waiting: Waiting,
}

#[derive(Debug)]
enum Input {
    Empty,
    /// The thread is reading.
    Reading,
    /// Bytes that were read; those from `taken` on have not been taken. No bytes at all means the
    /// end of the input.
    Read {
        bytes: Vec<u8>,
        taken: usize,
    },
    Failed(io::Error),
}

enum Step {
    Done(io::Result<()>),
    /// A read is in progress. The caller drops the waker, which is not needed, after unlocking.
    Wait(Option<Waker>),
    /// As `Wait`, and the caller has to start a read.
    StartRead(Option<Waker>),
}

impl InputState {
    fn step(&mut self, place: &mut Place, waker: Waker, buf: &mut ReadBuf<'_>) -> Step {
        match mem::replace(&mut self.input, Input::Empty) {
            Input::Read { bytes, taken } => {
                self.take(bytes, taken, buf);
                Step::Done(Ok(()))
            }
            Input::Failed(error) => Step::Done(Err(error)),
            Input::Reading => {
                self.input = Input::Reading;
                Step::Wait(self.waiting.join(place, waker))
            }
            Input::Empty => {
                self.input = Input::Reading;
                Step::StartRead(self.waiting.join(place, waker))
            }
        }
    }

    fn take(&mut self, bytes: Vec<u8>, taken: usize, buf: &mut ReadBuf<'_>) {
        let n = buf.remaining().min(bytes.len() - taken);
        buf.put_slice(&bytes[taken..taken + n]);
        if taken + n < bytes.len() {
            self.input = Input::Read { bytes, taken: taken + n };
        }
    }
}

fn start_reading(most: usize) -> io::Result<()> {
    let started = INPUT.thread.run(move || deliver(read(most.min(MOST))));
    if started.is_err() {
        // Other tasks that wait by now poll again and get the same error.
        deliver_nothing();
    }
    started
}

fn read(most: usize) -> Input {
    let mut bytes = vec![0; most];
    match uninterrupted(|| io::stdin().read(&mut bytes)) {
        Ok(n) => {
            bytes.truncate(n);
            Input::Read { bytes, taken: 0 }
        }
        Err(error) => Input::Failed(error),
    }
}

fn deliver_nothing() {
    deliver(Input::Empty);
}

fn deliver(input: Input) {
    let mut state = lock(&INPUT.state);
    state.input = input;
    let mut woken = Vec::new();
    state.waiting.take_all(&mut woken);
    drop(state);
    wake_all(&mut woken);
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
    fn a_handle_keeps_the_waker_of_one_of_the_tasks_that_gave_up() {
        let mut state = InputState { input: Input::Reading, waiting: Waiting::new() };
        let mut handle = Place::default();
        let mut buf = [0; 1];
        let tasks: Vec<_> = (0..100).map(|_| Arc::new(Sleeper)).collect();
        for task in &tasks {
            let step = state.step(&mut handle, task.clone().into(), &mut ReadBuf::new(&mut buf));
            assert!(matches!(step, Step::Wait(_)));
        }
        assert_eq!(tasks.iter().map(Arc::strong_count).sum::<usize>(), tasks.len() + 1);
        drop(state.waiting.leave(&mut handle));
        assert_eq!(tasks.iter().map(Arc::strong_count).sum::<usize>(), tasks.len());
    }
}
