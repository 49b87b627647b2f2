//! `Member`: a task of a `JoinSet`.

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use crate::task::{Id, JoinError, JoinHandle};

/// A task of the set.
pub(super) struct Member<T> {
    pub(super) handle: JoinHandle<T>,
    /// The task's result, if the task had finished before its handle was added to the set.
    ///
    /// The mutex is never locked. It makes the set `Sync` for outputs that are only `Send`.
    result: Mutex<Option<Result<T, JoinError>>>,
}

impl<T> Member<T> {
    pub(super) fn of(handle: JoinHandle<T>) -> Member<T> {
        Member { handle, result: Mutex::new(None) }
    }

    /// Returns whether the task has finished. Its result is kept in the member.
    pub(super) fn join_early(&mut self, cx: &mut Context<'_>) -> bool {
        let Poll::Ready(result) = self.handle.poll_unguarded(cx) else {
            return false;
        };
        self.result = Mutex::new(Some(result));
        true
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(Id, T), JoinError>> {
        let id = self.handle.id();
        let result = match self.early_result() {
            Some(result) => result,
            None => ready!(self.handle.poll_unguarded(cx)),
        };
        Poll::Ready(result.map(|output| (id, output)))
    }

    fn early_result(&mut self) -> Option<Result<T, JoinError>> {
        self.result.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }
}
