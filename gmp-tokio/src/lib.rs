//! tokio's API on gmp.
//!
//! This package is named `tokio`, so that a patch replaces the real tokio with it, for a program
//! and for all of its dependencies. Nothing is implemented here. The parts that need an executor
//! come from `gmp_exec`, and those with a file descriptor from `gmp_io`. The parts that need
//! neither (the I/O traits, `sync`, the macros) come from tokio's own source, under the name of
//! `tokio-real`. Code that uses a part that is not here does not compile. tokio's unstable items
//! are here with `--cfg tokio_unstable`; gmp-tokio/README.md lists those that are missing.
//!
//! Every item behaves as <https://docs.rs/tokio/1.54.1> documents it.

#[cfg(feature = "fs")]
pub mod fs;
pub mod io;
#[doc(hidden)]
pub mod macros;
pub mod net;
#[cfg(feature = "process")]
pub mod process;
#[cfg(feature = "rt")]
pub mod runtime;
#[cfg(feature = "signal")]
pub mod signal;
#[cfg(feature = "sync")]
pub mod sync;
pub mod task;
#[cfg(feature = "time")]
pub mod time;

#[cfg(feature = "rt")]
pub use gmp_exec::spawn;
#[cfg(all(feature = "macros", feature = "rt-multi-thread"))]
pub use tokio_macros::{main, test};
#[cfg(all(feature = "macros", not(feature = "rt")))]
pub use tokio_macros::{main_fail as main, test_fail as test};
#[cfg(all(feature = "macros", feature = "rt", not(feature = "rt-multi-thread")))]
pub use tokio_macros::{main_rt as main, test_rt as test};
pub use tokio_real::pin;
#[doc(no_inline)]
pub use tokio_real::stream;
#[cfg(feature = "rt")]
pub use tokio_real::task_local;
#[cfg(feature = "macros")]
pub use tokio_real::{join, select, try_join};
