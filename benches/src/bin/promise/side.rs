//! The functions of a runtime that some rows need beyond those of all workloads.

use std::io;

use gmp_benches::rt::{Blocking, Gmp, Timers, Tokio};
use tokio::io::AsyncWrite;

pub(crate) trait Side: Blocking + Timers {
    /// The runtime's standard output.
    type Stdout: AsyncWrite + Send + Unpin + 'static;

    fn stdout() -> Self::Stdout;

    /// Creates a runtime that runs one closure that may block at a time.
    fn one_closure_at_a_time(procs: usize) -> io::Result<Self>;

    fn abort<T: Send + 'static>(handle: &Self::JoinHandle<T>);
}

macro_rules! side {
    ($runtime:ty, $io:ident) => {
        impl Side for $runtime {
            type Stdout = $io::io::Stdout;

            fn stdout() -> Self::Stdout {
                $io::io::stdout()
            }

            fn one_closure_at_a_time(procs: usize) -> io::Result<Self> {
                Self::with_closures_at_once(procs, 1)
            }

            fn abort<T: Send + 'static>(handle: &Self::JoinHandle<T>) {
                handle.abort();
            }
        }
    };
}

side!(Gmp, gmp_io);
side!(Tokio, tokio);
