//! The runtimes that results belong to.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    #[default]
    Gmp,
    /// gmp with sysmon off.
    #[serde(rename = "gmp_no_sysmon")]
    #[value(name = "gmp_no_sysmon")]
    GmpWithoutSysmon,
    Tokio,
    Go,
}

impl Side {
    /// The side's name on command lines and in JSON.
    pub fn key(self) -> &'static str {
        if self == Side::GmpWithoutSysmon { "gmp_no_sysmon" } else { self.name() }
    }

    /// The side's name for readers.
    pub fn name(self) -> &'static str {
        match self {
            Side::Gmp => "gmp",
            Side::GmpWithoutSysmon => "no sysmon",
            Side::Tokio => "tokio",
            Side::Go => "go",
        }
    }
}
