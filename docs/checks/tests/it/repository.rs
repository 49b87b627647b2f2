//! The files of the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The files that git knows or would add, and whose paths match the pattern.
pub(crate) fn files(pattern: &str) -> Vec<PathBuf> {
    let mut git = Command::new("git");
    git.current_dir(top()).args(["ls-files", "--cached", "--others", "--exclude-standard", pattern]);
    let output = git.output().expect("git");
    assert!(output.status.success(), "{output:?}");
    let names = String::from_utf8(output.stdout).expect("named in ASCII");
    // A symbolic link stands for a file that is in the list itself.
    names.lines().map(|name| top().join(name)).filter(|file| file.is_file() && !file.is_symlink()).collect()
}
