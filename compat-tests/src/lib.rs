//! Small real programs with third-party crates on gmp.
//!
//! The programs are the tests, one file per crate: `tests/it` here, and the package in `dropin`,
//! where tokio is the drop-in. README.md says what each test covers. This library has the code that
//! both need besides the runtime, and names neither gmp nor tokio: each package decides which tokio
//! it is built with.
#![forbid(unsafe_code)]

use std::time::Duration;

pub mod certificates;
pub mod server;

/// Long enough for a busy machine; a test that reaches this deadline hangs.
pub const DEADLINE: Duration = Duration::from_secs(60);
