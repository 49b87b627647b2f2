//! The future that async-task polls: the user's future, wrapped so that nothing in it can harm the
//! executor.
//!
//! async-task aborts the process when a future's destructor panics, has no abort through `&self`,
//! and lets a panic unwind into the machine. The wrapper turns each of these events into a value.
//! It polls and drops the user's future under `catch_unwind`, drops the future instead of polling
//! it once the task is aborted, and always ends with an [`Outcome`]. So the executor does not use
//! async-task's own cancellation: a task is cancelled by running it once more (see [`cancel`]).

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Id;
use super::error::JoinError;
use super::header::{Header, Home, Runnable};
use super::registry::Wait;
use super::{traced, unhandled_panic, waker_events, watch};
use crate::contain::contain;
use crate::context;

pin_project! {
    pub(super) struct TaskFuture<F> {
        #[pin]
        future: Option<F>,
        header: &'static Header,
        notes: u8,
    }

    impl<F> PinnedDrop for TaskFuture<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            contain_drop(this.future.as_mut());
            this.header.home.count_finished();
            if end(this.header, *this.notes) {
                this.header.home.registry().remove(this.header);
            }
        }
    }
}

/// The registry lists the task.
const HAS_WAITED: u8 = 1;
/// The task is watched.
const IS_WATCHED: u8 = 2;

/// Returns whether the registry has an entry to remove. `notes` are 0 for most tasks that end in
/// their first poll.
#[inline]
fn end(header: &Header, notes: u8) -> bool {
    if notes == 0 {
        return header.listing.finish();
    }
    if notes & IS_WATCHED != 0 {
        watch::dropped(header);
    }
    notes & HAS_WAITED != 0 || header.listing.finish()
}

/// The output of a task. Dropping an outcome never unwinds: async-task drops the output of a
/// detached task, and a panic there would abort the process. The destructor of the output runs with
/// the task's id as the current one, as all code of the task does.
///
/// An error contains the task's id, so only an output has the id beside it. Every task has room for
/// an outcome. With eight more bytes, a small task was too large for the fast lists of glibc's
/// allocator, and a spawn took 165 more instructions (measured).
pub(super) struct Outcome<T>(Option<Result<(T, Id), JoinError>>);

/// Cancels a scheduled task: its future is dropped at once, and its handle returns
/// `JoinError::cancelled`. A closure that must finish, or that may still run at the end of the
/// runtime, is passed to `Scheduler::finish` instead.
pub(crate) fn cancel(runnable: Runnable) {
    if runnable.metadata().may_run_at_end() {
        return finish(runnable);
    }
    drop_now(runnable);
}

/// Cancels a scheduled task, or a closure whatever its [`AtShutdown`](super::AtShutdown).
pub(crate) fn drop_now(runnable: Runnable) {
    runnable.metadata().set_aborted();
    watch::run(runnable);
}

fn finish(closure: Runnable) {
    match closure.metadata().home.clone() {
        Home::Scheduler(scheduler) => scheduler.finish(closure),
        Home::Local(_) => unreachable!("closures belong to schedulers"),
    }
}

impl<F: Future> TaskFuture<F> {
    pub(super) fn new(future: F, header: &'static Header) -> Self {
        let notes = if header.is_watched() { IS_WATCHED } else { 0 };
        TaskFuture { future: Some(future), header, notes }
    }

    fn cancelled(mut self: Pin<&mut Self>) -> Poll<Outcome<F::Output>> {
        let id = self.header.id;
        let error = match drop_future(self.as_mut().project().future) {
            Ok(()) => JoinError::cancelled(id),
            Err(payload) => JoinError::panicked(id, payload),
        };
        Poll::Ready(Outcome::of(id, Err(error)))
    }

    fn wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome<F::Output>> {
        crate::sched::hogs::note_end_of_poll(self.header);
        if self.header.is_aborted() {
            // The task was aborted during its poll, perhaps by itself. It ends with this poll, as
            // on tokio.
            return self.cancelled();
        }
        self.header.progress.wait();
        if self.notes & HAS_WAITED != 0 {
            return Poll::Pending;
        }
        match self.header.home.registry().wait(self.header, cx.waker()) {
            Wait::Listed => {
                *self.project().notes |= HAS_WAITED;
                Poll::Pending
            }
            Wait::Aborted => self.cancelled(),
        }
    }
}

impl<F: Future> Future for TaskFuture<F> {
    type Output = Outcome<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome<F::Output>> {
        self.header.progress.begin_poll();
        let mut observing;
        let cx = if self.header.is_plain() {
            cx
        } else {
            if self.header.is_aborted() {
                let _entered = context::enter_task(self.header, cx.waker());
                return self.cancelled();
            }
            match self.header.observing_waker(cx.waker()) {
                None => cx,
                Some(waker) => {
                    observing = Context::from_waker(waker);
                    &mut observing
                }
            }
        };
        let _entered = context::enter_task(self.header, cx.waker());
        let (header, future) = (self.header, self.as_mut().project().future);
        let poll = || catch_unwind(AssertUnwindSafe(|| DropOnPanic(future).poll(cx)));
        let polled = traced::poll_traced(header, poll, |polled| !matches!(polled, Ok(Poll::Pending)));
        waker_events::end_poll(cx.waker());
        match polled {
            Ok(Poll::Pending) => self.wait(cx),
            Ok(Poll::Ready(output)) => {
                // A panic while the finished future is dropped counts as a panic of the task, as on
                // tokio.
                let id = self.header.id;
                let mut outcome = Outcome::of(id, Ok(output));
                if let Err(payload) = drop_future(self.as_mut().project().future) {
                    outcome = Outcome::of(id, Err(JoinError::panicked(id, payload)));
                }
                Poll::Ready(outcome)
            }
            Err(payload) => {
                crate::sched::record::panicked(self.header.id);
                unhandled_panic::note(self.header);
                Poll::Ready(Outcome::of(self.header.id, Err(JoinError::panicked(self.header.id, payload))))
            }
        }
    }
}

/// Drops the future while the thread unwinds if the poll panics, because destructors may check
/// `std::thread::panicking`.
struct DropOnPanic<'a, F>(Pin<&'a mut Option<F>>);

impl<F: Future> DropOnPanic<'_, F> {
    fn poll(mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        let future = self.0.as_mut().as_pin_mut().expect("async-task does not poll a finished future");
        let poll = traced::poll_root(future, cx);
        std::mem::forget(self);
        poll
    }
}

impl<F> Drop for DropOnPanic<'_, F> {
    fn drop(&mut self) {
        contain_drop(self.0.as_mut());
    }
}

fn drop_future<F>(mut future: Pin<&mut Option<F>>) -> Result<(), Box<dyn Any + Send>> {
    if future.is_none() {
        return Ok(());
    }
    catch_unwind(AssertUnwindSafe(|| future.set(None)))
}

/// Drops the future. A panic is reported by the panic hook and not passed on.
fn contain_drop<F>(mut future: Pin<&mut Option<F>>) {
    if future.is_some() {
        contain(|| future.set(None));
    }
}

impl<T> Outcome<T> {
    fn of(id: Id, result: Result<T, JoinError>) -> Outcome<T> {
        Outcome(Some(result.map(|output| (output, id))))
    }

    pub(super) fn into_result(mut self) -> Result<T, JoinError> {
        let result = self.0.take().expect("an outcome is taken once");
        result.map(|(output, _)| output)
    }
}

impl<T> Drop for Outcome<T> {
    #[inline]
    fn drop(&mut self) {
        if matches!(self.0, None | Some(Ok(_))) && !std::mem::needs_drop::<T>() {
            return;
        }
        if let Some(result) = self.0.take() {
            let id = result.as_ref().map_or_else(JoinError::id, |(_, id)| *id);
            let _as_task = context::enter_id(id);
            contain(|| drop(result));
        }
    }
}
