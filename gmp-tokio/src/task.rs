//! Tasks: spawning, waiting for and cancelling them. Without the feature `rt` the module exists but
//! is empty.

#[cfg(feature = "rt-multi-thread")]
#[doc(inline)]
pub use gmp_exec::task::block_in_place;
#[cfg(feature = "rt")]
#[doc(inline)]
pub use gmp_exec::task::{
    AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalSet, id, spawn, spawn_blocking, spawn_local,
    try_id, yield_now,
};
#[cfg(feature = "rt")]
#[doc(hidden)]
pub use tokio_real::task::coop::{Unconstrained, consume_budget, unconstrained};
#[cfg(feature = "rt")]
#[doc(inline)]
pub use tokio_real::task::{LocalKey, coop, futures};
