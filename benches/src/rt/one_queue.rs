//! About the least that tasks could take on one core: async-task's tasks in one queue on one thread,
//! without stealing, ids, aborts, a budget, panics that are caught, or threads to wake. It is no
//! runtime for programs.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use std::{io, thread};

use async_task::Runnable;

use super::handle::Handle;
use super::{Rt, Work};

thread_local! {
    static QUEUE: RefCell<VecDeque<Runnable>> = const { RefCell::new(VecDeque::new()) };
}

/// Runs tasks inside `block_on`. Tasks and wakers must stay on its thread.
#[derive(Debug)]
pub struct OneQueue;

impl Rt for OneQueue {
    const NAME: &'static str = "one queue";

    type JoinError = Infallible;
    type JoinHandle<T: Send + 'static> = Handle<T>;

    fn new(_: usize) -> io::Result<Self> {
        Ok(OneQueue)
    }

    fn procs(&self) -> usize {
        1
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            let mut task = next();
            assert!(task.is_some(), "a task of the workload waits for something outside");
            while let Some(runnable) = task {
                runnable.run();
                task = next();
            }
        }
    }

    fn spawn_remote<F: Work>(&self, future: F) -> Handle<F::Output> {
        Self::spawn(future)
    }

    fn spawn<F: Work>(future: F) -> Handle<F::Output> {
        let (runnable, task) = async_task::spawn(future, |runnable| QUEUE.with_borrow_mut(|it| it.push_back(runnable)));
        runnable.schedule();
        Handle::new(task)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        let mut has_yielded = false;
        poll_fn(move |cx| {
            if has_yielded {
                return Poll::Ready(());
            }
            has_yielded = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        Self::spawn(async { f() })
    }

    async fn sleep(duration: Duration) {
        thread::sleep(duration);
    }

    async fn timeout<F: Future + Send>(limit: Duration, future: F) -> Result<F::Output, impl Debug> {
        let (mut future, end) = (pin!(future), Instant::now() + limit);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending if Instant::now() >= end => Poll::Ready(Err(())),
            Poll::Pending => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }
}

fn next() -> Option<Runnable> {
    QUEUE.with_borrow_mut(VecDeque::pop_front)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::rt::in_task;

    #[test]
    fn tasks_run_in_order_and_a_timeout_passes_or_gives_the_output() {
        let order = in_task(&OneQueue, async {
            let (sender, mut receiver) = ::tokio::sync::mpsc::unbounded_channel();
            for number in 0..3 {
                let sender = sender.clone();
                drop(OneQueue::spawn(async move {
                    OneQueue::yield_now().await;
                    sender.send(number).unwrap();
                }));
            }
            drop(sender);
            let mut order = Vec::new();
            while let Some(number) = receiver.recv().await {
                order.push(number);
            }
            order
        });
        assert_eq!(order, [0, 1, 2]);
        in_task(&OneQueue, async {
            assert!(OneQueue::timeout(Duration::from_millis(1), pending::<()>()).await.is_err());
            assert_eq!(OneQueue::timeout(Duration::from_secs(60), async { 3 }).await.ok(), Some(3));
        });
    }
}
