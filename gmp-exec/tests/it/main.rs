//! The integration tests of gmp-exec, one module per area.

mod spawn;
mod time;
