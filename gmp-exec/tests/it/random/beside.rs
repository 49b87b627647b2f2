//! Threads that act on a runtime beside its program, until they are dropped.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Handle;

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, Random};

pub(super) struct Beside {
    end: Flag,
    thread: Option<thread::JoinHandle<()>>,
}

impl Beside {
    /// Sets a random number of processors every millisecond, also more than at the beginning.
    pub(super) fn resize(handle: &Handle, mut random: Random, most: u64) -> Beside {
        let handle = handle.clone();
        Beside::every(Duration::from_millis(1), move || {
            handle.set_max_procs(1 + random.below(most) as usize).unwrap();
        })
    }

    /// Lets tasks that wait for readiness go on.
    pub(super) fn feed(netpoll: Arc<FakeNetpoll>) -> Beside {
        Beside::every(Duration::from_micros(50), move || {
            if netpoll.waiting() > 0 {
                netpoll.make_ready();
            }
        })
    }

    fn every(period: Duration, mut act: impl FnMut() + Send + 'static) -> Beside {
        let end = Flag::new();
        let is_over = end.clone();
        let thread = thread::spawn(move || {
            while !is_over.wait_for(period) {
                act();
            }
        });
        Beside { end, thread: Some(thread) }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.end.set();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
