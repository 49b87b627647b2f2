//! The futures of `block_on`, for the dump: where each was given to `block_on`, and what it waits for.
//!
//! They are listed only if a setting asks for what the dump shows, because the list has a lock. Such
//! a future has a header of its own, in which the futures that have to wait leave their notes. No
//! waker writes into it, so a future that was woken seems to wait until its next poll.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::context;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::task::cell::header::{Header, Kind, Observed};

static ROOTS: Mutex<Vec<Arc<Root>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Root {
    header: Header,
    /// The address of the scheduler.
    runtime: usize,
}

/// A future that is in the list until this is dropped.
#[derive(Debug)]
pub(crate) struct Listing(Arc<Root>);

fn lock() -> MutexGuard<'static, Vec<Arc<Root>>> {
    ROOTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(crate) fn list(scheduler: &SchedulerRef, location: &'static Location<'static>) -> Listing {
    let header = Header::new(scheduler.home().clone(), Kind::Task(Observed::No), location);
    let root = Arc::new(Root { header, runtime: address(scheduler) });
    lock().push(root.clone());
    Listing(root)
}

/// Shows the futures of this runtime.
pub(crate) fn for_each_root(scheduler: &Scheduler, mut see: impl FnMut(&Header)) {
    let roots = lock().clone();
    roots.iter().filter(|root| root.runtime == address(scheduler)).for_each(|root| see(&root.header));
}

fn address(scheduler: &Scheduler) -> usize {
    std::ptr::from_ref(scheduler).addr()
}

impl Drop for Listing {
    fn drop(&mut self) {
        lock().retain(|root| !Arc::ptr_eq(root, &self.0));
    }
}

impl Listing {
    fn poll<T>(&self, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
        let header = &self.0.header;
        header.progress.begin_poll();
        let result = context::with_header(header, poll);
        header.progress.wait();
        result
    }
}

pin_project! {
    /// A future that may be in the list.
    pub(crate) struct Listed<F> {
        pub(crate) listing: Option<Listing>,
        #[pin]
        pub(crate) future: F,
    }
}

impl<F: Future> Future for Listed<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        match this.listing {
            None => this.future.poll(cx),
            Some(listing) => listing.poll(|| this.future.poll(cx)),
        }
    }
}
