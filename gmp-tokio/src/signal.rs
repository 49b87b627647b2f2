//! Signals.

pub use gmp_io::signal::{ctrl_c, unix};
