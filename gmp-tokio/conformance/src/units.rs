//! The package that tokio's unit tests are compiled in.
//!
//! They lie in tokio's source and see what is private there, so they can't be turned to the drop-in
//! as the integration tests are. But a part of that source is the drop-in: channels, locks, I/O
//! tools and the budget are `tokio-real`'s, with edits. Its unit tests show that the edits broke
//! nothing. All of them are run, also those of what the drop-in doesn't use (tokio's scheduler, its
//! files and processes): leaving them out would need a list to be kept.

use std::path::Path;
use std::{fs, io};

use crate::source::drop_in;

/// What these tests are called on the command line, and the name of their package.
pub(crate) const GROUP: &str = "units";

/// Tells their names from those of the integration tests.
pub(crate) const PREFIX: &str = "src::";

/// Writes the package, a member of the workspace in `workspace`.
pub(crate) fn make(workspace: &Path) -> io::Result<()> {
    let folder = workspace.join(GROUP);
    fs::create_dir_all(&folder)?;
    let generated = fs::read_to_string(drop_in().join("tokio-real/Cargo.toml"))?;
    crate::package::write_changed(&folder.join("Cargo.toml"), &manifest(&generated))
}

/// The manifest of `tokio-real`, of whose library only the tests are wanted.
fn manifest(generated: &str) -> String {
    let own = generated
        .replace("name = \"tokio-real\"", &format!("name = \"{GROUP}\""))
        .replace("[lib]\nname = \"tokio_real\"", &format!("[[test]]\nname = \"{GROUP}\""))
        .replace("path = \"src/lib.rs\"\ntest = false\ndoctest = false", "path = \"../../../tokio-real/src/lib.rs\"")
        .replace("path = \"../../gmp-exec\"", "path = \"../../../../gmp-exec\"");
    format!("{own}{TESTS_NEED}")
}

/// Of tokio's dependencies for tests, those of the unit tests that stable Linux has.
const TESTS_NEED: &str = r#"
[dev-dependencies]
futures = "0.3"
mockall = "0.13"
tokio-test = "0.4"
"#;
