//! The future that async-task polls: the user's future, wrapped so that nothing in it can harm the
//! executor.
//!
//! async-task aborts the process when a future's destructor panics, has no abort through `&self`,
//! and lets a panic unwind into the machine. The wrapper turns each of these events into a value.
//! It polls and drops the user's future under `catch_unwind`, drops the future instead of polling
//! it once the task is aborted, and always ends with an [`Outcome`]. So the executor does not use
//! async-task's own cancellation: a task is cancelled by running it once more (see [`cancel`]).

use std::any::{Any, type_name};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::contain::contain;
use crate::context;
use crate::sched::closures::at_shutdown;
use crate::task::Id;
use crate::task::cell::body::{Body, Note};
use crate::task::cell::header::{Header, Runnable};
use crate::task::cell::home::Home;
use crate::task::console::waker_events;
use crate::task::handle::error::JoinError;
use crate::task::registry::Wait;
use crate::task::watch::unhandled_panic;
use crate::task::{sites, traced, watch};

pin_project! {
    pub(in crate::task) struct TaskFuture<F> {
        #[pin]
        body: Body<F>,
    }

    impl<F> PinnedDrop for TaskFuture<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut body = this.project().body;
            contain_drop(body.as_mut());
            let header = body.header();
            header.home.count_finished();
            if end(&body) {
                header.home.registry().remove(header);
            }
        }
    }
}

/// Returns whether the registry has an entry to remove. Nothing is noted of most tasks that end in
/// their first poll.
#[inline]
fn end<F>(body: &Body<F>) -> bool {
    let header = body.header();
    if body.has_no_note() {
        return header.listing.finish();
    }
    if body.has(Note::IsWatched) {
        watch::dropped(header);
    }
    body.has(Note::HasWaited) || header.listing.finish()
}

/// The output of a task. Dropping an outcome never unwinds: async-task drops the output of a
/// detached task, and a panic there would abort the process. The destructor of the output runs with
/// the task's id as the current one, as all code of the task does.
///
/// An error contains the task's id, so only an output has the id beside it. Every task has room for
/// an outcome. When other parts of a task were larger, eight more bytes made a small task too large
/// for the fast lists of glibc's allocator, and a spawn took 165 more instructions (measured).
pub(in crate::task) struct Outcome<T>(Option<Result<(T, Id), JoinError>>);

/// Cancels a scheduled task: its future is dropped at once, and its handle returns
/// `JoinError::cancelled`. A closure that must finish, or that may still run at the end of the
/// runtime, is passed to `at_shutdown::finish` instead.
pub(crate) fn cancel(runnable: Runnable) {
    if runnable.metadata().may_run_at_end() {
        return finish(runnable);
    }
    drop_now(runnable);
}

/// Cancels a scheduled task, or a closure whatever its [`AtShutdown`](crate::task::AtShutdown).
pub(crate) fn drop_now(runnable: Runnable) {
    runnable.metadata().set_aborted();
    watch::run(runnable);
}

fn finish(closure: Runnable) {
    let home = closure.metadata().home.clone();
    match &*home {
        Home::Scheduler(scheduler) => at_shutdown::finish(scheduler, closure),
        Home::Local(_) => unreachable!("closures belong to schedulers"),
    }
}

impl<F: Future> TaskFuture<F> {
    pub(in crate::task) fn new(future: F, header: &'static Header) -> Self {
        TaskFuture { body: Body::new(future, header) }
    }

    fn cancelled(mut self: Pin<&mut Self>) -> Poll<Outcome<F::Output>> {
        let id = self.body.header().id;
        let error = match drop_future(self.as_mut().project().body) {
            Ok(()) => JoinError::cancelled(id),
            Err(payload) => JoinError::panicked(id, payload),
        };
        Poll::Ready(Outcome::of(id, Err(error)))
    }

    fn wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome<F::Output>> {
        let header = self.body.header();
        crate::sched::hogs::note_end_of_poll(header);
        if !header.only_waits() {
            if header.is_aborted() {
                // The task was aborted during its poll, perhaps by itself. It ends with this poll,
                // as on tokio.
                return self.cancelled();
            }
            sites::end_poll(header);
        }
        header.progress.wait();
        if self.body.has(Note::HasWaited) {
            return Poll::Pending;
        }
        match header.home.registry().wait(header, cx.waker()) {
            Wait::Listed => {
                self.project().body.note(Note::HasWaited);
                Poll::Pending
            }
            Wait::Aborted => self.cancelled(),
        }
    }
}

impl<F: Future> Future for TaskFuture<F> {
    type Output = Outcome<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome<F::Output>> {
        let header = self.body.header();
        header.progress.begin_poll();
        let mut observing;
        let cx = if header.is_plain() {
            cx
        } else {
            if header.is_aborted() {
                let _entered = context::enter_task(header, cx.waker());
                return self.cancelled();
            }
            if header.is_asked_for_sites() {
                sites::begin_poll(header, type_name::<F>);
            }
            match header.observing_waker(cx.waker()) {
                None => cx,
                Some(waker) => {
                    observing = Context::from_waker(waker);
                    &mut observing
                }
            }
        };
        let _entered = context::enter_task(header, cx.waker());
        let body = self.as_mut().project().body;
        let poll = || catch_unwind(AssertUnwindSafe(|| DropOnPanic(body).poll(cx)));
        let polled = traced::poll_traced(header, poll, |polled| !matches!(polled, Ok(Poll::Pending)));
        waker_events::end_poll(cx.waker());
        match polled {
            Ok(Poll::Pending) => self.wait(cx),
            Ok(Poll::Ready(output)) => {
                // A panic while the finished future is dropped counts as a panic of the task, as on
                // tokio.
                let mut outcome = Outcome::of(header.id, Ok(output));
                if let Err(payload) = drop_future(self.as_mut().project().body) {
                    outcome = Outcome::of(header.id, Err(JoinError::panicked(header.id, payload)));
                }
                Poll::Ready(outcome)
            }
            Err(payload) => {
                crate::observe::on_panic(header.id);
                unhandled_panic::note(header);
                Poll::Ready(Outcome::of(header.id, Err(JoinError::panicked(header.id, payload))))
            }
        }
    }
}

/// Drops the future while the thread unwinds if the poll panics, because destructors may check
/// `std::thread::panicking`.
struct DropOnPanic<'a, F>(Pin<&'a mut Body<F>>);

impl<F: Future> DropOnPanic<'_, F> {
    fn poll(mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        let future = self.0.as_mut().future().expect("async-task does not poll a finished future");
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

fn drop_future<F>(body: Pin<&mut Body<F>>) -> Result<(), Box<dyn Any + Send>> {
    if !body.has_future() {
        return Ok(());
    }
    catch_unwind(AssertUnwindSafe(|| body.drop_future()))
}

/// Drops the future. A panic is reported by the panic hook and not passed on.
fn contain_drop<F>(body: Pin<&mut Body<F>>) {
    if body.has_future() {
        contain(|| body.drop_future());
    }
}

impl<T> Outcome<T> {
    fn of(id: Id, result: Result<T, JoinError>) -> Outcome<T> {
        Outcome(Some(result.map(|output| (output, id))))
    }

    pub(in crate::task) fn into_result(mut self) -> Result<T, JoinError> {
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
