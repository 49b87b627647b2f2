//! The facts besides the sources that the counts depend on: the instruction set, and `malloc`,
//! which is a fifth of a spawn.

use std::process::Command;
use std::{env, fmt};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    arch: String,
    /// Name and version.
    libc: String,
}

impl Machine {
    /// The machine that this program runs on.
    pub(crate) fn here() -> Self {
        Machine { arch: env::consts::ARCH.to_owned(), libc: libc().unwrap_or_else(|| "an unknown libc".to_owned()) }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.arch, self.libc)
    }
}

/// The version of the libc. Only glibc reports it, through a command that comes with it.
fn libc() -> Option<String> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}
