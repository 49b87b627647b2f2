//! What running the tests of others on gmp takes, whoever's they are: also used by `gmp-crates`.

pub mod single;

/// The version of tokio that the drop-in is.
pub const TOKIO: &str = "1.54.1";
