//! The simulated network.

mod calls;
pub(crate) mod datagrams;
pub(crate) mod hosts;
pub(crate) mod masked;
pub(crate) mod names;
pub(crate) mod sequences;
pub(crate) mod streams;
pub(crate) mod unix;
