//! The user's workspace, as cargo sees it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use hmac_sha256::Hash as Sha256;

use crate::arguments::Arguments;
use crate::cargo::{Cargo, succeeded};
use crate::digest;
use crate::metadata::Metadata;

/// The first line of a `CACHEDIR.TAG`, by which programs recognise such a file.
const CACHE_MARK: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

/// A workspace. Its dependencies are not resolved, because cargo would write the lock file.
#[derive(Debug)]
pub(crate) struct Project {
    metadata: Metadata,
    /// The user's `--config` options.
    pub(crate) configuration: Vec<OsString>,
}

impl Project {
    pub(crate) fn find(cargo: &Cargo, arguments: &Arguments) -> Result<Self> {
        let mut command = cargo.command();
        command.args(["metadata", "--no-deps", "--format-version", "1"]).args(&arguments.configuration);
        if let Some(path) = &arguments.manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        let output = succeeded(cargo.output(&mut command)?)?;
        Ok(Project { metadata: Metadata::parse(&output.stdout)?, configuration: arguments.configuration.clone() })
    }

    /// The manifest that has the workspace's patches.
    pub(crate) fn root_manifest(&self) -> PathBuf {
        self.metadata.workspace_root.join("Cargo.toml")
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.metadata.workspace_root.join("Cargo.lock")
    }

    /// The folder for the workspace's own programs.
    pub(crate) fn target_directory(&self) -> &Path {
        &self.metadata.target_directory
    }

    /// Makes the target directory as cargo does: with a mark that excludes it from backups.
    pub(crate) fn make_target_directory(&self) -> Result<()> {
        let target = self.target_directory();
        if !target.exists() {
            fs::create_dir_all(target).with_context(|| format!("can't make {}", target.display()))?;
            fs::write(target.join("CACHEDIR.TAG"), CACHE_MARK)?;
        }
        Ok(())
    }

    /// The folder for intermediate files.
    pub(crate) fn build_directory(&self) -> &Path {
        &self.metadata.build_directory
    }

    /// gmp's folder in the target directory: programs built by `cargo gmp`, and the files that
    /// `cargo gmp` itself needs.
    pub(crate) fn gmp_directory(&self) -> PathBuf {
        self.target_directory().join("gmp")
    }

    /// The folder for seeded runs: programs, and the output of failures.
    pub(crate) fn seeds_directory(&self) -> PathBuf {
        self.gmp_directory().join("seeds")
    }

    /// The folder in which cargo looks for its configuration.
    pub(crate) fn current_directory(&self) -> Result<PathBuf> {
        env::current_dir().context("the current folder is gone")
    }

    /// Adds every manifest of the workspace to `hash`.
    pub(crate) fn add_to(&self, hash: &mut Sha256) -> Result<()> {
        let members = self.metadata.packages.iter().map(|package| package.manifest.clone());
        for manifest in members.chain([self.root_manifest()]) {
            hash.update(fs::read(&manifest).with_context(|| format!("can't read {}", manifest.display()))?);
        }
        Ok(())
    }

    /// Distinguishes this workspace from others that share its target directory.
    pub(crate) fn key(&self) -> String {
        digest::of(self.metadata.workspace_root.as_os_str().as_encoded_bytes())[..16].to_owned()
    }
}
