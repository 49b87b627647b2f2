//! `block_on`: runs a future of a runtime on a plain thread.
//!
//! On the multi-thread flavour the thread polls only its future, and parks while the future waits;
//! the runtime's machines run the tasks. On the current-thread flavour the thread is the machine.

use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Wake, Waker};

use crate::context::{self, Entered};
use crate::lost::{Before, locks};
use crate::observe::{RootPolls, RootWaker};
use crate::runtime::handle::Handle;
use crate::sched::config::Flavor;
use crate::sched::shutdown::last_poll;
use crate::sched::{Scheduler, current_thread};
use crate::seeded;
use crate::sync::Arc;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;
use crate::sync::thread::{self, Thread};
use crate::task::roots::{self, Listed};
use crate::task::{coop, is_large, of_block_on, rooted};

const NESTED: &str = "Cannot start a runtime from within a runtime. This happens because a function (like `block_on`) \
                      attempted to block the current thread while the thread is being used to drive asynchronous tasks. \
                      If you are in an async function, use `.await` on the future instead of blocking on it.";

#[track_caller]
pub(super) fn block_on<F: Future>(handle: &Handle, entered: fn(Flavor) -> Entered, future: F) -> F::Output {
    if const { is_large::<F>() } { drive(handle, entered, Box::pin(future)) } else { drive(handle, entered, future) }
}

#[track_caller]
fn drive<F: Future>(handle: &Handle, entered: fn(Flavor) -> Entered, future: F) -> F::Output {
    let flavor = handle.scheduler().config.flavor;
    let entered = entered(flavor);
    assert!(context::entered() == Entered::Nothing, "{NESTED}");
    let _entered = context::set_entered(entered);
    let _runtime = context::push_runtime(handle.scheduler().clone());
    let _seed = context::enter_seed(handle.scheduler().config.seeds.as_ref());
    // Futures whose polls this call is nested in can't run before it returns, so a yield in here
    // must not wait for them.
    let _deferral = context::suspend_deferral();
    let location = Location::caller();
    let listing = locks::are_kept().then(|| roots::list(handle.scheduler(), location));
    let future = pin!(Listed { listing, future: rooted(of_block_on(future, location)) });
    match flavor {
        Flavor::CurrentThread => current_thread::block_on(handle.scheduler(), entered, future, location),
        Flavor::MultiThread => {
            last_poll::outside(handle.scheduler(), || park_until_ready(handle.scheduler(), entered, future, location))
        }
    }
}

fn park_until_ready<F: Future>(
    scheduler: &Arc<Scheduler>,
    entered: Entered,
    mut future: Pin<&mut F>,
    location: &'static Location<'static>,
) -> F::Output {
    let polls = RootPolls::new(scheduler, location);
    let parked = Arc::new(Parked { thread: thread::current(), woken: AtomicBool::new(false), waker: polls.waker() });
    let waker = Waker::from(parked.clone());
    let mut cx = Context::from_waker(&waker);
    let mut poll = || {
        let _budget = coop::with_budget(Some(coop::UNITS));
        seeded::note_root(&waker);
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    };
    loop {
        if let Some(output) = polls.poll(&mut poll) {
            return output;
        }
        while !parked.woken.swap(false, Acquire) {
            park(scheduler, entered, &parked);
        }
    }
}

/// Only what borrows the runtime may say that no wake-up comes (`lost::deadlock`).
fn park(scheduler: &Arc<Scheduler>, entered: Entered, parked: &Parked) {
    match Before::sleep(scheduler).filter(|_| matches!(entered, Entered::Runtime(_))) {
        None => thread::park(),
        Some(before) => {
            thread::park_timeout(before.limit());
            before.fail_if_silent(scheduler, || parked.woken.load(Acquire));
        }
    }
}

/// Wakes a parked thread. The flag makes an unpark from unrelated code harmless.
struct Parked {
    thread: Thread,
    woken: AtomicBool,
    waker: RootWaker,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Recorded before the poll can begin.
        self.waker.on_wake(|| self.woken.load(Relaxed));
        if !self.woken.swap(true, Release) {
            self.thread.unpark();
        }
    }
}
