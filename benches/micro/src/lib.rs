//! The code that the micro-benchmarks and the count of instructions share.

pub mod call;
pub mod library;
pub mod paths;
