//! smol behind the trait, assembled as the crate `smol` does it: one executor for the process,
//! whose threads each drive async-io's reactor while they are idle and end with the process.
//! Closures that may block go to the crate blocking. `block_in_place` is missing because smol
//! doesn't have it; sockets and files, because their traits differ from the workloads' `AsyncRead`.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::{Future, pending};
use std::time::Duration;
use std::{io, thread};

use async_executor::Executor;
use async_io::Timer;
use futures_lite::future;

use super::handle::Handle;
use super::{Rt, Work};

static EXECUTOR: Executor<'static> = Executor::new();

/// A number of threads that run the tasks. A process may have only one.
#[derive(Debug)]
pub struct Smol {
    procs: usize,
}

impl Rt for Smol {
    const NAME: &'static str = "smol";

    type JoinError = Infallible;
    type JoinHandle<T: Send + 'static> = Handle<T>;

    fn new(procs: usize) -> io::Result<Self> {
        for number in 0..procs {
            let run = || async_io::block_on(EXECUTOR.run(pending::<()>()));
            thread::Builder::new().name(format!("smol-{number}")).spawn(run)?;
        }
        Ok(Smol { procs })
    }

    fn procs(&self) -> usize {
        self.procs
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }

    fn spawn_remote<F: Work>(&self, future: F) -> Handle<F::Output> {
        Self::spawn(future)
    }

    fn spawn<F: Work>(future: F) -> Handle<F::Output> {
        Handle::new(EXECUTOR.spawn(future))
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        future::yield_now()
    }

    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        Handle::new(blocking::unblock(f))
    }

    async fn sleep(duration: Duration) {
        Timer::after(duration).await;
    }

    async fn timeout<F: Future + Send>(limit: Duration, future: F) -> Result<F::Output, impl Debug> {
        let elapsed = async {
            Timer::after(limit).await;
            Err(())
        };
        future::or(async { Ok(future.await) }, elapsed).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt::in_task;

    #[test]
    fn a_task_outlives_its_handle_and_a_timeout_passes_or_gives_the_output() {
        let rt = Smol::new(2).unwrap();
        let (sender, receiver) = ::tokio::sync::oneshot::channel();
        in_task(&rt, async {
            drop(Smol::spawn(async {
                Smol::yield_now().await;
                sender.send(7).unwrap();
            }));
        });
        assert_eq!(rt.block_on(receiver), Ok(7));
        assert!(rt.block_on(Smol::timeout(Duration::from_millis(1), pending::<()>())).is_err());
        assert_eq!(rt.block_on(Smol::timeout(Duration::from_secs(60), async { 3 })).ok(), Some(3));
    }
}
