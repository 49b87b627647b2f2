//! The integration tests of gmp-exec, one module per area.
//!
//! Some properties can't be provoked from outside. The models of the local queue (`sched`,
//! `loom_local_queue`) check that a queue never looks empty while it holds a task, and that a thief
//! does not steal into a queue that is not empty.

mod block_on;
mod blocking;
mod budget;
mod builder;
#[cfg(target_os = "linux")]
mod children;
mod driver;
#[cfg(feature = "taskdump")]
mod dump;
mod environment;
mod faults;
#[cfg(target_os = "linux")]
mod first_runtime;
#[cfg(target_os = "linux")]
mod follow;
mod histograms;
mod idle;
mod join_set;
#[cfg(target_os = "linux")]
mod late_filter;
mod local_runtime;
mod local_set;
mod lost;
mod macros;
mod metrics;
mod netpoll;
mod random;
mod resize;
mod scheduling;
#[cfg(target_os = "linux")]
mod set_uid;
#[cfg(feature = "tracing")]
mod spans;
mod spawn;
mod stack_size;
mod tasks;
mod time;
#[cfg(feature = "insight")]
mod trace;
mod watched;

// Shared by the tests above.
mod fake_netpoll;
#[cfg(target_os = "linux")]
mod filter;
mod futures;
mod support;
