//! Child processes.

#[doc(inline)]
pub use gmp_io::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
