//! Asking cargo.

use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsString;
use std::process::{Command, Output};

/// The cargo that this process was started by, or the one on the path.
#[derive(Clone, Debug)]
pub struct Cargo {
    program: OsString,
    offline: bool,
}

impl Cargo {
    /// As the environment says; with `offline`, no command made here uses the network.
    pub fn from_env(offline: bool) -> Self {
        Cargo { program: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), offline }
    }

    /// Whether the network is out of bounds.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// A command of this cargo's, still without arguments.
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// Runs `cargo <arguments>` without the network, and if that fails, with it, unless that is out of bounds.
    ///
    /// What was downloaded before is found without the network, faster and on a train.
    ///
    /// # Errors
    ///
    /// With cargo's own message, if the last attempt failed.
    pub fn run_offline_first(&self, arguments: &[&str]) -> Result<Output> {
        let output = self.output(arguments, &["--offline"])?;
        if output.status.success() || self.offline {
            return succeeded(arguments, output);
        }
        succeeded(arguments, self.output(arguments, &[])?)
    }

    fn output(&self, arguments: &[&str], more: &[&str]) -> Result<Output> {
        let mut command = self.command();
        command.args(arguments).args(more);
        command.output().with_context(|| format!("can't start `{}`", self.program.to_string_lossy()))
    }
}

fn succeeded(arguments: &[&str], output: Output) -> Result<Output> {
    if output.status.success() {
        return Ok(output);
    }
    bail!("`cargo {}` failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim_end())
}
