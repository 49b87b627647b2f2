//! Runtimes: how they are configured, entered and ended.

pub(crate) mod config;
#[allow(unsafe_code)] // Follows the pointer to this thread's machine.
pub(crate) mod context;

mod block_on;
mod builder;
mod handle;
#[allow(clippy::module_inception)] // The type's own file, like every other.
mod runtime;

pub use crate::metrics::RuntimeMetrics;
pub use builder::Builder;
pub use handle::{EnterGuard, Handle, Id, RuntimeFlavor, TryCurrentError};
pub use runtime::Runtime;
