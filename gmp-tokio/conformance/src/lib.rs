//! Runs tests from other projects on gmp: the part that `gmp-crates` uses too.

pub mod single;

/// The version of tokio that the drop-in replaces.
pub const TOKIO: &str = "1.54.1";
