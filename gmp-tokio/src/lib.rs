//! tokio's API on gmp.
//!
//! This package is named `tokio`, so that a patch puts it into the place of the real one, for a
//! program and for all of its dependencies. Nothing is implemented here. What needs an executor
//! comes from `gmp_exec`, what has a file descriptor from `gmp_io`, and what needs neither (the I/O
//! traits, `sync`, the macros) from tokio's own source, under the name of `tokio-real`. What there
//! is not is a compile error.
//!
//! Everything means what <https://docs.rs/tokio/1.54.1> says.

#[cfg(all(tokio_unstable, not(doc)))]
compile_error!("the drop-in has tokio's stable API only: build without `--cfg tokio_unstable`");

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
