//! The handle of a task of async-task, with tokio's meaning of a drop.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_task::Task;

/// A task that goes on when its handle is dropped. async-task's own handle would cancel it.
#[derive(Debug)]
pub struct Handle<T>(Option<Task<T>>);

impl<T> Handle<T> {
    pub(super) fn new(task: Task<T>) -> Self {
        Handle(Some(task))
    }
}

impl<T> Future for Handle<T> {
    type Output = Result<T, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let task = self.0.as_mut().expect("only a drop takes the task");
        Pin::new(task).poll(cx).map(Ok)
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}
