//! Signals.

#[doc(inline)]
pub use gmp_io::signal::{ctrl_c, unix};
