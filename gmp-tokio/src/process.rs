//! Child processes.

pub use gmp_io::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
