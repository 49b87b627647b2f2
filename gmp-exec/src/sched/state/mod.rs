//! What machines share: data and its transitions, each of which can be read and modelled alone.
//!
//! Nothing here names `Scheduler`, `Local` or `Held`: state does not act. `.ci/layers` checks it.

pub(crate) mod processor;

pub(crate) mod machine;

pub(crate) mod idle;

pub(crate) mod all_machines;
pub(crate) mod closures;
pub(crate) mod deferred;
pub(crate) mod global_queue;
pub(crate) mod last_poll;
pub(crate) mod netpoll_gate;
pub(crate) mod permits;
pub(crate) mod sysmon;
pub(crate) mod takeable;
pub(crate) mod victim_order;
