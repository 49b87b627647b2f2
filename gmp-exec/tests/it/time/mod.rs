//! Time as a program sees it. Tests with a paused clock check exact moments. Tests with a running
//! clock check that no timer is early, and allow a minute for delays.

mod interval;
mod many_timers;
mod misuse;
mod pause;
mod processors;
mod sleep;
mod timeout;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};

/// How long a test waits for an event that must happen, but may be late on a busy system.
const A_MINUTE: Duration = Duration::from_secs(60);

fn paused() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn multi_thread(processors: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(processors).enable_time().build().unwrap()
}

fn both_flavors() -> [Runtime; 2] {
    [current_thread(), multi_thread(2)]
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A task that only counts how often it is woken.
struct Task {
    wakes: Arc<Wakes>,
    waker: Waker,
}

struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Task {
    fn new() -> Task {
        let wakes = Arc::new(Wakes(AtomicUsize::new(0)));
        Task { waker: Waker::from(wakes.clone()), wakes }
    }

    fn poll<F: Future + Unpin>(&self, mut future: F) -> Poll<F::Output> {
        std::pin::Pin::new(&mut future).poll(&mut Context::from_waker(&self.waker))
    }

    fn wakes(&self) -> usize {
        self.wakes.0.load(SeqCst)
    }

    /// The number of copies of the waker outside of this task.
    fn wakers_elsewhere(&self) -> usize {
        Arc::strong_count(&self.wakes) - 2
    }
}

/// A small generator (xorshift64) for the tests that need many different numbers.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
