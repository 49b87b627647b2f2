//! The integration tests of gmp-exec, one module per area.

mod environment;
mod join_set;
mod local_set;
mod macros;
mod spawn;
mod time;
