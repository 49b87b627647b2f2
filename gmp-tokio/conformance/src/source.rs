//! Finds tokio's package, as cargo has unpacked it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of tokio whose tests are run.
pub(crate) const VERSION: &str = gmp_conformance::TOKIO;

/// Returns the folder with tokio's integration tests.
pub(crate) fn find() -> Result<PathBuf, String> {
    let manifest = workspace_root().join("Cargo.toml");
    // The main workspace depends on the real tokio, so this command also unpacks tokio if
    // necessary.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let tokio = packages.iter().find(|package| package["name"] == "tokio" && package["version"] == VERSION);
    let tokio = tokio.ok_or(format!("the main workspace does not depend on tokio {VERSION}: cargo update -p tokio"))?;
    let manifest = tokio["manifest_path"].as_str().ok_or("tokio has no manifest")?;
    Ok(Path::new(manifest).with_file_name("tests"))
}

pub(crate) fn workspace_root() -> PathBuf {
    drop_in().join("..")
}

/// The folder of the drop-in.
pub(crate) fn drop_in() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
