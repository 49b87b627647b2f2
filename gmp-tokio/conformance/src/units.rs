//! The package that tokio's unit tests are compiled in.
//!
//! The unit tests are in tokio's source and use its private items, so they can't be built against
//! the drop-in as the integration tests are. But a part of that source is in the drop-in: channels,
//! locks, I/O tools and the budget come from `tokio-real`, with edits. The unit tests of that part
//! show that the edits broke nothing. All unit tests run, including those of code that the drop-in
//! doesn't use (tokio's scheduler, files and processes), because leaving them out would need a
//! list.

use std::path::Path;
use std::{fs, io};

use crate::source::drop_in;

/// The name of these tests on the command line, and of their package.
pub(crate) const GROUP: &str = "units";

/// Distinguishes the names of the unit tests from those of the integration tests.
pub(crate) const PREFIX: &str = "src::";

/// Writes the package, a member of the workspace in `workspace`.
pub(crate) fn make(workspace: &Path) -> io::Result<()> {
    let folder = workspace.join(GROUP);
    fs::create_dir_all(&folder)?;
    let generated = fs::read_to_string(drop_in().join("tokio-real/Cargo.toml"))?;
    crate::package::write_changed(&folder.join("Cargo.toml"), &manifest(&generated))
}

/// The manifest of `tokio-real`, changed so that its library is built only as a test.
fn manifest(generated: &str) -> String {
    let own = generated
        .replace("name = \"tokio-real\"", &format!("name = \"{GROUP}\""))
        .replace("[lib]\nname = \"tokio_real\"", &format!("[[test]]\nname = \"{GROUP}\""))
        .replace("path = \"src/lib.rs\"\ntest = false\ndoctest = false", "path = \"../../../tokio-real/src/lib.rs\"")
        .replace("path = \"../../gmp-exec\"", "path = \"../../../../gmp-exec\"");
    format!("{own}{TESTS_NEED}")
}

/// Those of tokio's dependencies for tests that the unit tests need on stable Rust and Linux.
const TESTS_NEED: &str = r#"
[dev-dependencies]
futures = "0.3"
mockall = "0.13"
tokio-test = "0.4"
"#;
