//! Channels, locks and what else tasks synchronise with. tokio's own.

#[doc(inline)]
pub use tokio_real::sync::*;
