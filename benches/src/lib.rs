//! The code that the programs of this package share: the runtimes behind one trait, the workloads,
//! and the measuring.
//!
//! A comparison is worthless if the sides run different code. So every workload is written once,
//! generic over [`rt::Rt`], and the runtimes take turns in one process, in another order every
//! time, until the repetitions are done. (Go can't share the code: it has a program of its own in
//! `benches/go`, which takes its turns with the others.) Other activity on the machine hits all
//! sides alike, and the ratio of gmp's median to tokio's is the result; the times themselves drift
//! from day to day and are printed only so that a reader can judge the noise.
//!
//! The programs: `gmp-benches` (the table of workloads), `promise` (a ticker beside tasks that hold
//! their thread), `idle_connections` (memory and throughput of servers with 10 000 idle
//! connections), `serve_tokio` (the example `serve` of gmp-io, on tokio), `http_load` (a load
//! generator for both), `http_mix` (an HTTP application on gmp and on tokio under load, a part of
//! which holds its thread), and `report`, which runs the others and plots their results. README.md
//! says what each row measures.

pub mod args;
pub mod child;
pub mod cli;
pub mod http;
pub mod limits;
pub mod measure;
pub mod memory;
pub mod plan;
pub mod process;
pub mod report;
pub mod rt;
pub mod side;
pub mod sides;
pub mod sysmon_cost;
pub mod workloads;
