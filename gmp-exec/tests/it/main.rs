//! The integration tests of gmp-exec, one module per area.

mod blocking;
mod environment;
mod fake_netpoll;
mod faults;
mod futures;
mod fuzz;
mod go_behaviour;
mod idle;
mod join_set;
mod local_set;
mod macros;
mod metrics;
mod spawn;
mod stress;
mod support;
mod time;
mod tokio_rules;
mod traps;
