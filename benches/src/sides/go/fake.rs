//! Shell scripts that stand in for the program in Go.

use std::{fs, os::unix::fs::PermissionsExt};

use tempfile::{NamedTempFile, TempPath};

/// A program that does what the script says; gone when the path is dropped.
pub(in crate::sides) fn program(script: &str) -> TempPath {
    let path = NamedTempFile::new().expect("a temporary file can be made").into_temp_path();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it can be made a program");
    path
}
