//! The runtimes that results are of.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Who was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Gmp as it is.
    Gmp,
    /// Gmp with sysmon off.
    #[serde(rename = "gmp_no_sysmon")]
    #[value(name = "gmp_no_sysmon")]
    GmpWithoutSysmon,
    /// Tokio.
    Tokio,
}

impl Side {
    /// What it is called on command lines and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Side::GmpWithoutSysmon => "gmp_no_sysmon",
            Side::Gmp | Side::Tokio => self.name(),
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Side::Gmp => "gmp",
            Side::GmpWithoutSysmon => "no sysmon",
            Side::Tokio => "tokio",
        }
    }
}
