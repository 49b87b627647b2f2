//! Channels, locks and other tools that synchronise tasks. All of them are tokio's own.

#[doc(inline)]
pub use tokio_real::sync::*;
