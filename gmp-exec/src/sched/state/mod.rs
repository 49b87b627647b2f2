//! The data that machines share, and its transitions. Each file can be read and modelled alone.
//!
//! Nothing here names `Scheduler`, `Local` or `Held`: state does not act. `tests/layers` in
//! gmp-exec's folder checks this.

pub(crate) mod processor;
pub(crate) mod processors;

pub(crate) mod machine;

pub(crate) mod idle;

pub(crate) mod all_machines;
pub(crate) mod deferred;
pub(crate) mod global_queue;
pub(crate) mod last_poll;
pub(crate) mod netpoll_gate;
pub(crate) mod outside;
pub(crate) mod permits;
pub(crate) mod pool;
pub(crate) mod striped;
pub(in crate::sched) mod suspects;
pub(crate) mod sysmon;
pub(crate) mod threads;
pub(crate) mod unusual;
