//! The same source, on gmp.

pub(crate) use gmp_exec::{runtime, task, time};
pub(crate) use gmp_io::{fs, io::stderr, net, process, signal};

#[path = "programs.rs"]
pub(crate) mod programs;
