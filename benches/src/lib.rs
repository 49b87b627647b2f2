//! The code that the programs of this package share: the runtimes behind one trait, the workloads,
//! and the measuring. README.md lists the programs, and what each row measures.
//!
//! A comparison is worthless if the sides run different code. So every workload is written once,
//! generic over [`rt::Rt`]. (Go has a program of its own in `benches/go`.) The ratio of gmp's
//! median to tokio's is the result; the times themselves drift from day to day and are printed only
//! so that a reader can judge the noise.

#![allow(
    missing_docs,
    reason = "only the programs of this package use it, and many names say all that there is to say"
)]

pub mod args;
pub mod child;
pub mod distance;
pub mod measure;
pub mod memory;
pub mod process;
pub mod report;
pub mod rt;
pub mod sides;
pub mod sysmon_cost;
pub mod workloads;
