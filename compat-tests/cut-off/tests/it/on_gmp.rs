//! The same source, on gmp.

pub(crate) use gmp_exec::{runtime, task, time};
pub(crate) use gmp_io::io::stderr;
pub(crate) use gmp_io::{fs, net, process, signal};

#[path = "programs.rs"]
pub(crate) mod programs;
