//! Standard input.
//!
//! A blocking read can't be called back when the task that wanted it is cancelled. What it then brings must not be lost, so
//! it belongs to the process, not to a handle: one read is under way at a time, and whoever asks next gets what it brought.

use std::io::{self, Read};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker, ready};

use gmp_exec::task::coop;

use super::lane::Lane;
use crate::io::{AsyncRead, ReadBuf};
use crate::lock::{join_once, lock, wake_all};

/// A handle to standard input, from [`stdin`].
///
/// All handles read from the same place. A read that is cancelled loses nothing: the next one gets what it brought.
///
/// The end of a runtime does not wait for a read. For a program that talks with its user, line by line, a thread of its own
/// with `std::io::stdin` is the simpler way all the same.
#[derive(Debug)]
pub struct Stdin(());

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
    Stdin(())
}

impl AsyncRead for Stdin {
    /// # Errors
    ///
    /// The system's; also when the thread that reads can't be started.
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let coop = ready!(coop::poll_proceed(cx));
        let waker = cx.waker().clone();
        let step = lock(&INLET.state).step(waker, buf);
        let result = match step {
            Step::Over(result) => result,
            Step::Wait(unneeded) => {
                drop(unneeded);
                return Poll::Pending;
            }
            Step::Ask => match start_reading(buf.remaining()) {
                Ok(()) => return Poll::Pending,
                Err(error) => Err(error),
            },
        };
        coop.made_progress();
        Poll::Ready(result)
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

/// What all handles share.
static INLET: Inlet =
    Inlet { lane: Lane::new("gmp-stdin"), state: Mutex::new(State { input: Input::Nothing, waiting: Vec::new() }) };

/// The most that is read at once. A caller gets no more than it asked for in any case.
const MOST: usize = 64 * 1024;

#[derive(Debug)]
struct Inlet {
    lane: Lane,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    input: Input,
    waiting: Vec<Waker>,
}

#[derive(Debug)]
enum Input {
    Nothing,
    /// The lane is reading.
    Coming,
    /// Read and not yet taken: from `taken` on. Nothing at all means that the input has ended.
    Here {
        bytes: Vec<u8>,
        taken: usize,
    },
    Failed(io::Error),
}

enum Step {
    Over(io::Result<()>),
    /// Somebody's read is under way. A waker that is not needed is dropped without the lock.
    Wait(Option<Waker>),
    /// The caller has to start a read.
    Ask,
}

impl State {
    fn step(&mut self, waker: Waker, buf: &mut ReadBuf<'_>) -> Step {
        match mem::replace(&mut self.input, Input::Nothing) {
            Input::Here { bytes, taken } => {
                self.take(bytes, taken, buf);
                Step::Over(Ok(()))
            }
            Input::Failed(error) => Step::Over(Err(error)),
            Input::Coming => {
                self.input = Input::Coming;
                Step::Wait(join_once(&mut self.waiting, waker))
            }
            Input::Nothing => {
                self.input = Input::Coming;
                self.waiting.push(waker);
                Step::Ask
            }
        }
    }

    fn take(&mut self, bytes: Vec<u8>, taken: usize, buf: &mut ReadBuf<'_>) {
        let n = buf.remaining().min(bytes.len() - taken);
        buf.put_slice(&bytes[taken..taken + n]);
        if taken + n < bytes.len() {
            self.input = Input::Here { bytes, taken: taken + n };
        }
    }
}

fn start_reading(most: usize) -> io::Result<()> {
    let started = INLET.lane.run(move || arrive(read(most.min(MOST))));
    if started.is_err() {
        // The others who wait by now ask themselves, and are told the same.
        arrive_nothing();
    }
    started
}

fn read(most: usize) -> Input {
    let mut bytes = vec![0; most];
    loop {
        match io::stdin().read(&mut bytes) {
            Ok(n) => {
                bytes.truncate(n);
                return Input::Here { bytes, taken: 0 };
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Input::Failed(error),
        }
    }
}

fn arrive_nothing() {
    arrive(Input::Nothing);
}

fn arrive(input: Input) {
    let mut state = lock(&INLET.state);
    state.input = input;
    let mut waiting = mem::take(&mut state.waiting);
    drop(state);
    wake_all(&mut waiting);
}
