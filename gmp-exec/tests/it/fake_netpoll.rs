//! A netpoll in place of the reactor, for tests of which machine sleeps in the netpoll and which is
//! woken.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Condvar, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

use gmp_exec::netpoll::Netpoll;

/// A source of readiness that a test controls. Sleeps as a reactor does, until readiness, a wake-up
/// or a timeout.
#[derive(Default)]
pub(crate) struct FakeNetpoll {
    state: Mutex<FakeState>,
    changed: Condvar,
    inside: AtomicUsize,
    crowded: AtomicBool,
}

#[derive(Default)]
struct FakeState {
    woken: bool,
    /// Events that no task has taken yet.
    ready: usize,
    waiters: VecDeque<Waker>,
    /// The runtime has ended, so no task may wait.
    is_shut_down: bool,
}

impl FakeNetpoll {
    /// Lets one task through `wait`.
    pub(crate) fn make_ready(&self) {
        self.make_batch_ready(1);
    }

    /// Lets `tasks` tasks through `wait`, all in one batch if they wait already.
    pub(crate) fn make_batch_ready(&self, tasks: usize) {
        self.state.lock().unwrap().ready += tasks;
        self.changed.notify_all();
    }

    /// Whether all that was made ready has been taken.
    pub(crate) fn is_drained(&self) -> bool {
        self.state.lock().unwrap().ready == 0
    }

    pub(crate) async fn wait(&self) {
        let mut registered = false;
        std::future::poll_fn(|cx| {
            if registered {
                return std::task::Poll::Ready(());
            }
            registered = true;
            let mut state = self.state.lock().unwrap();
            if state.is_shut_down {
                return std::task::Poll::Ready(());
            }
            state.waiters.push_back(cx.waker().clone());
            drop(state);
            self.changed.notify_all();
            std::task::Poll::Pending
        })
        .await;
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state.lock().unwrap().waiters.len()
    }

    pub(crate) fn was_used_by_one_at_a_time(&self) -> bool {
        !self.crowded.load(SeqCst)
    }

    fn sleep(&self, timeout: Option<Duration>) -> Vec<Waker> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.state.lock().unwrap();
        loop {
            let count = state.ready.min(state.waiters.len());
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if count > 0 || std::mem::take(&mut state.woken) || left == Some(Duration::ZERO) {
                state.ready -= count;
                return state.waiters.drain(..count).collect();
            }
            state = match left {
                None => self.changed.wait(state).unwrap(),
                Some(left) => self.changed.wait_timeout(state, left).unwrap().0,
            };
        }
    }
}

impl Netpoll for FakeNetpoll {
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        if self.inside.fetch_add(1, SeqCst) > 0 {
            self.crowded.store(true, SeqCst);
        }
        self.sleep(timeout).into_iter().for_each(Waker::wake);
        self.inside.fetch_sub(1, SeqCst);
        Ok(())
    }

    fn wake(&self) {
        self.state.lock().unwrap().woken = true;
        self.changed.notify_all();
    }

    fn shutdown(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_shut_down = true;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.into_iter().for_each(Waker::wake);
    }
}
