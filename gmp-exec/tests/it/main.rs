//! The integration tests of gmp-exec, one module per area.

mod blocking;
mod faults;
mod go_behaviour;
mod idle;
mod spawn;
mod stress;
mod support;
mod time;
mod traps;
