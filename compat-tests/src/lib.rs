//! Third-party crates on gmp, small real programs.
//!
//! The programs are the tests, one file a crate: `tests/it` here, and the package in `dropin`,
//! where tokio is the drop-in. README.md says what each exercises. This library is what both need
//! beside the runtime, and names neither gmp nor tokio: each package says which tokio it is built
//! with.
#![forbid(unsafe_code)]

use std::time::Duration;

pub mod certificates;
pub mod server;

/// Long enough for a machine that does a lot else; a test that needs it hangs.
pub const DEADLINE: Duration = Duration::from_secs(60);
