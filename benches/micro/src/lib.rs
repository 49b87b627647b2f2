//! The code that the micro-benchmarks and the count of instructions share, and the traits of both
//! runtimes, which gmp-benches uses, too.

#![allow(missing_docs, reason = "only the programs of the benches use it")]

pub mod paths;
pub mod rt;
