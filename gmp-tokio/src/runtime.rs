//! The runtime: processors, machines, timers and the reactor.

#[doc(inline)]
pub use gmp_exec::runtime::{
    Builder, EnterGuard, Handle, Id, LocalOptions, LocalRuntime, Runtime, RuntimeFlavor, RuntimeMetrics,
    TryCurrentError, is_rt_shutdown_err, worker_index,
};
#[cfg(all(tokio_unstable, feature = "taskdump"))]
#[doc(inline)]
pub use gmp_exec::runtime::{Dump, dump};
#[cfg(tokio_unstable)]
#[doc(inline)]
pub use gmp_exec::runtime::{
    HistogramConfiguration, HistogramScale, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder, RngSeed,
    TaskMeta, UnhandledPanic,
};
