//! `Member`: a task of a `JoinSet`.

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use crate::task::cell::future::Outcome;
use crate::task::{Id, JoinError, JoinHandle};

/// A task of the set.
pub(super) struct Member<T> {
    pub(super) handle: JoinHandle<T>,
    /// The task's result, if the task had finished before its handle was added to the set.
    ///
    /// The mutex is never locked. It makes the set `Sync` for outputs that are only `Send`.
    early: Mutex<Option<Outcome<T>>>,
}

impl<T> Member<T> {
    pub(super) fn of(handle: JoinHandle<T>) -> Member<T> {
        Member { handle, early: Mutex::new(None) }
    }

    /// Returns whether the task has finished. Its result is kept in the member.
    pub(super) fn join_early(&mut self, cx: &mut Context<'_>) -> bool {
        let Poll::Ready(outcome) = self.handle.poll_outcome(cx) else {
            return false;
        };
        self.early = Mutex::new(Some(outcome));
        true
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(Id, T), JoinError>> {
        let id = self.handle.id();
        let outcome = match self.early.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            Some(outcome) => outcome,
            None => ready!(self.handle.poll_outcome(cx)),
        };
        Poll::Ready(outcome.into_result().map(|output| (id, output)))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::task::{spawn, try_id, yield_now};

    struct Bomb(Sender<Option<Id>>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.send(try_id()).unwrap();
            panic!("an output whose drop panics");
        }
    }

    /// The drop of a set would panic, and `detach_all` abort the process.
    #[test]
    fn an_early_output_is_dropped_as_that_of_any_task() {
        crate::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let (sender, receiver) = channel();
            let handle = spawn(async move { Bomb(sender) });
            while !handle.is_finished() {
                yield_now().await;
            }
            let id = handle.id();
            let mut member = Member::of(handle);
            assert!(member.join_early(&mut Context::from_waker(std::task::Waker::noop())));
            drop(member);
            assert_eq!(receiver.recv(), Ok(Some(id)));
        });
    }
}
