//! The items that the expansions of tokio's macros name.

pub use tokio_real::macros::support;
