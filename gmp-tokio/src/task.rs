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
#[cfg(all(tokio_unstable, feature = "rt", feature = "tracing"))]
#[doc(inline)]
pub use gmp_exec::task::Builder;
#[cfg(feature = "rt")]
#[doc(hidden)]
pub use tokio_real::task::coop::{Unconstrained, consume_budget, unconstrained};
#[cfg(feature = "rt")]
#[doc(inline)]
pub use tokio_real::task::{LocalKey, coop, futures};

#[cfg(all(tokio_unstable, feature = "rt"))]
pub mod join_set {
    //! A set of tasks that are joined as they finish.

    #[cfg(feature = "tracing")]
    #[doc(inline)]
    pub use gmp_exec::task::join_set::Builder;
    #[doc(inline)]
    pub use gmp_exec::task::join_set::JoinSet;
}
