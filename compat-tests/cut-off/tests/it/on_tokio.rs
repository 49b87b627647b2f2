//! The programs, on tokio.

pub(crate) use tokio::io::stderr;
pub(crate) use tokio::{fs, net, process, runtime, signal, task, time};

#[path = "programs.rs"]
pub(crate) mod programs;
