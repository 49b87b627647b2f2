//! The programs, on tokio.

pub(crate) use tokio::{fs, io::stderr, net, process, runtime, signal, task, time};

#[path = "programs.rs"]
pub(crate) mod programs;
