//! Channels, locks and what else tasks synchronise with. tokio's own.

pub use tokio_real::sync::*;
